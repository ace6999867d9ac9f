/* Interval arithmetic over scalar evolution: an address that changes in constant steps in each loop
 * around it lies between two values that the loops' bounds give.
 *
 * What is known of all operands is computed as the program does, in its types; intervals are added
 * and multiplied in 64 bits, modulo which they are exact.
 */
#include "interval.h"

#include "../hooks/harmless.h"

#include "tree-affine.h"
#include "tree-scalar-evolution.h"
#include "tree-ssa-alias.h"
#include "tree-ssa-loop-niter.h"

static const unsigned narrowest = 32;
/* Ranges of so many bytes are refused (hooks/region.c); nor does a step that is not constant exceed
 * so many bytes. */
static const HOST_WIDE_INT longest = HOST_WIDE_INT_1 << 33, widest = HOST_WIDE_INT_1 << 30;

tree combine(tree_code code, tree a, tree b) {
  return fold_build2(code, wide_type(), unshare_expr(a), unshare_expr(b));
}

/* The lesser or greater of two values as signed numbers. */
static tree choose(tree_code code, tree a, tree b) {
  tree type = long_integer_type_node;
  return fold_convert(wide_type(), fold_build2(code, type, fold_convert(type, unshare_expr(a)),
                                               fold_convert(type, unshare_expr(b))));
}

static bool is_point(const interval &i) { return i.low == i.high; }

static interval point_of(tree value) { return {value, value}; }

static interval sum(const interval &a, const interval &b) {
  return {combine(PLUS_EXPR, a.low, b.low), combine(PLUS_EXPR, a.high, b.high)};
}

static interval product(const interval &a, tree factor) {
  tree one = combine(MULT_EXPR, a.low, factor), other = combine(MULT_EXPR, a.high, factor);
  if (TREE_CODE(factor) != INTEGER_CST)
    return {choose(MIN_EXPR, one, other), choose(MAX_EXPR, one, other)};
  return int_cst_value(factor) < 0 ? interval{other, one} : interval{one, other};
}

/* Whether an operation has a result for all operands. */
static bool is_total(tree_code code, tree second) {
  switch (code) {
  case PLUS_EXPR:
  case POINTER_PLUS_EXPR:
  case MINUS_EXPR:
  case MULT_EXPR:
  case NEGATE_EXPR:
  case BIT_AND_EXPR:
  case BIT_IOR_EXPR:
  case BIT_XOR_EXPR:
  case BIT_NOT_EXPR:
  case MIN_EXPR:
  case MAX_EXPR: return true;
  case LSHIFT_EXPR:
  case RSHIFT_EXPR: return TREE_CODE(second) == INTEGER_CST && compare_tree_int(second, 32) < 0;
  case TRUNC_DIV_EXPR:
  case EXACT_DIV_EXPR:
  case TRUNC_MOD_EXPR: return TREE_CODE(second) == INTEGER_CST && tree_int_cst_sgn(second) > 0;
  default: return false;
  }
}

/* The result of an operation on known values as the program computes it, in its types. */
static interval computed(tree_code code, tree type, tree first, tree a, tree second, tree b) {
  tree own = POINTER_TYPE_P(type) ? wide_type() : type;
  auto as_is = [&](tree operand, tree value) {
    tree of = TREE_TYPE(operand);
    return fold_convert(POINTER_TYPE_P(of) ? wide_type() : of, unshare_expr(value));
  };
  tree result;
  if (CONVERT_EXPR_CODE_P(code)) result = fold_convert(own, as_is(first, a));
  else if (!second) result = fold_build1(code, own, as_is(first, a));
  else if (code == POINTER_PLUS_EXPR) result = combine(PLUS_EXPR, a, b);
  else result = fold_build2(code, own, as_is(first, a), as_is(second, b));
  return point_of(fold_convert(wide_type(), result));
}

bool interval_finder::is_invariant(tree e) const {
  return expr_invariant_in_loop_p(outer, e) && !contains_abnormal_ssa_name_p(e) &&
         !generic_expr_could_trap_p(e);
}

bool interval_finder::find(tree e, bool is_count, interval *found, int depth) const {
  tree type = TREE_TYPE(e);
  if (depth > deepest || !(INTEGRAL_TYPE_P(type) || POINTER_TYPE_P(type))) return false;
  if (TYPE_PRECISION(type) > TYPE_PRECISION(wide_type())) return false;
  if (TREE_CODE(e) == INTEGER_CST) {
    /* An unsigned one may be added to subtract. */
    wide_int value = wide_int::from(wi::to_wide(e), TYPE_PRECISION(wide_type()), SIGNED);
    *found = point_of(wide_int_to_tree(wide_type(), value));
    return true;
  }
  if (is_invariant(e)) {
    *found = point_of(fold_convert(wide_type(), unshare_expr(e)));
    return true;
  }
  if (TREE_CODE(e) == SSA_NAME) return of_name(e, is_count, found, depth);
  if (REFERENCE_CLASS_P(e) || DECL_P(e)) return of_load(e, found);
  if (TREE_CODE(e) == ADDR_EXPR) return of_address(e, is_count, found, depth);
  tree second = BINARY_CLASS_P(e) ? TREE_OPERAND(e, 1) : NULL_TREE;
  if (!second && !UNARY_CLASS_P(e) && !CONVERT_EXPR_P(e)) return false;
  return of_operation(TREE_CODE(e), type, TREE_OPERAND(e, 0), second, is_count, found, depth);
}

bool interval_finder::of_name(tree name, bool is_count, interval *found, int depth) const {
  gimple *definition = SSA_NAME_DEF_STMT(name);
  class loop *l = gimple_bb(definition)->loop_father;
  affine_iv iv;
  if (simple_iv(l, l, name, &iv, true) && !operand_equal_p(iv.base, name, 0) &&
      TYPE_PRECISION(TREE_TYPE(name)) >= narrowest)
    return of_progression(l, iv, found, depth);
  gassign *assign = dyn_cast<gassign *>(definition);
  if (!assign || gimple_has_volatile_ops(assign) || gimple_num_ops(assign) > 3) return false;
  tree first = gimple_assign_rhs1(assign);
  if (gimple_assign_single_p(assign)) return find(first, is_count, found, depth + 1);
  tree second = gimple_num_ops(assign) > 2 ? gimple_assign_rhs2(assign) : NULL_TREE;
  return of_operation(gimple_assign_rhs_code(assign), TREE_TYPE(name), first, second, is_count, found,
                      depth);
}

bool interval_finder::of_address(tree e, bool is_count, interval *found, int depth) const {
  HOST_WIDE_INT offset = 0;
  tree memory = TREE_OPERAND(e, 0);
  if (TREE_CODE(memory) != MEM_REF && TREE_CODE(memory) != TARGET_MEM_REF) return false;
  if (!find(variable_address(memory, &offset), is_count, found, depth + 1)) return false;
  *found = sum(*found, point_of(build_int_cst(wide_type(), offset)));
  return true;
}

bool interval_finder::of_operation(tree_code code, tree type, tree first, tree second, bool is_count,
                                   interval *found, int depth) const {
  const unsigned precision = TYPE_PRECISION(type);
  interval a, b;
  if (ANY_INTEGRAL_TYPE_P(type) && TYPE_OVERFLOW_TRAPS(type)) return false;
  if (!find(first, is_count, &a, depth + 1)) return false;
  if (second && !find(second, is_count, &b, depth + 1)) return false;
  if (CONVERT_EXPR_CODE_P(code)) {
    *found = is_point(a) ? computed(code, type, first, a.low, NULL_TREE, NULL_TREE) : a;
    return is_point(a) || precision >= MIN(narrowest, TYPE_PRECISION(TREE_TYPE(first)));
  }
  if (is_point(a) && (!second || is_point(b)) && is_total(code, second)) {
    *found = computed(code, type, first, a.low, second, second ? b.low : NULL_TREE);
    return true;
  }
  if (precision < narrowest && !TYPE_OVERFLOW_UNDEFINED(type)) return false;
  const bool is_by_constant = second && is_point(b) && TREE_CODE(b.low) == INTEGER_CST;
  switch (code) {
  case NEGATE_EXPR: *found = product(a, build_minus_one_cst(wide_type())); return true;
  case PLUS_EXPR:
  case POINTER_PLUS_EXPR: *found = sum(a, b); return true;
  case MINUS_EXPR:
    *found = {combine(MINUS_EXPR, a.low, b.high), combine(MINUS_EXPR, a.high, b.low)};
    return true;
  case MULT_EXPR:
    if (!is_point(a) && !is_point(b)) return false;
    *found = is_point(b) ? product(a, b.low) : product(b, a.low);
    return true;
  case LSHIFT_EXPR:
    if (!is_by_constant || tree_to_uhwi(b.low) >= precision) return false;
    *found = product(a, build_int_cst(wide_type(), HOST_WIDE_INT_1U << tree_to_uhwi(b.low)));
    return true;
  case TRUNC_DIV_EXPR:
  case EXACT_DIV_EXPR:
  case RSHIFT_EXPR:
    if (!is_count || !is_by_constant || tree_int_cst_sgn(b.low) <= 0) return false;
    *found = {combine(code, a.low, b.low), combine(code, a.high, b.low)};
    return true;
  case MIN_EXPR:
  case MAX_EXPR: *found = {choose(code, a.low, b.low), choose(code, a.high, b.high)}; return true;
  default: return false;
  }
}

bool interval_finder::of_progression(class loop *l, const affine_iv &iv, interval *found,
                                     int depth) const {
  interval base, rounds, step;
  if (!find(iv.base, false, &base, depth + 1)) return false;
  if (integer_zerop(iv.step)) {
    *found = base;
    return true;
  }
  if (!find(iv.step, false, &step, depth + 1) || !is_point(step)) return false;
  if (!find_rounds(l, &rounds, depth)) return false;
  /* Negative is what is computed for a loop that does not return to its start. More than what is
   * refused anyway is not multiplied, as the product might wrap around. */
  tree none = build_zero_cst(wide_type()), by = step.low;
  const bool is_constant = TREE_CODE(by) == INTEGER_CST;
  const unsigned HOST_WIDE_INT each = is_constant ? absu_hwi(int_cst_value(by)) : 1;
  tree most = build_int_cst(wide_type(), longest / MAX(each, 1) + 2);
  tree times = combine(MIN_EXPR, choose(MAX_EXPR, rounds.high, none), most);
  if (!is_constant) {
    by = choose(MAX_EXPR, by, build_int_cst(wide_type(), -widest));
    by = choose(MIN_EXPR, by, build_int_cst(wide_type(), widest));
  }
  tree way = combine(MULT_EXPR, times, by);
  interval ways = {choose(MIN_EXPR, way, none), choose(MAX_EXPR, way, none)};
  if (is_constant)
    ways = int_cst_value(step.low) < 0 ? interval{way, none} : interval{none, way};
  *found = sum(base, ways);
  return true;
}

/* How often a loop returns to its start at most. */
bool interval_finder::find_rounds(class loop *l, interval *found, int depth) const {
  auto exits = get_loop_exit_edges(l);
  bool any = false;
  for (unsigned i = 0; i < exits.length() && !any; i++) {
    tree_niter_desc iterations;
    gcond *test;
    any = find_rounds_to(l, exits[i], found, depth) ||
          (number_of_iterations_exit_assumptions(l, exits[i], &iterations, &test) &&
           find(iterations.niter, true, found, depth + 1));
  }
  exits.release();
  return any;
}

/* One number less the other, with what both have in common left out. */
static tree difference(tree a, tree b) {
  if (TYPE_PRECISION(TREE_TYPE(a)) < TYPE_PRECISION(wide_type())) {
    tree type = unsigned_type_for(TREE_TYPE(a));
    return fold_build2(MINUS_EXPR, type, fold_convert(type, a), fold_convert(type, b));
  }
  hash_map<tree, name_expansion *> *known = NULL;
  aff_tree one, other;
  tree_to_aff_combination_expand(fold_convert(wide_type(), a), wide_type(), &one, &known);
  tree_to_aff_combination_expand(fold_convert(wide_type(), b), wide_type(), &other, &known);
  free_affine_expand_cache(&known);
  aff_combination_scale(&other, -1);
  aff_combination_add(&one, &other);
  return aff_combination_to_tree(&one);
}

/* The same for a loop that stays while a counter differs from a bound: gcc's expression for it,
 * with an inverse modulo 2^64, says nothing about intervals. */
bool interval_finder::find_rounds_to(class loop *l, edge exit, interval *found, int depth) const {
  gimple_stmt_iterator last = gsi_last_nondebug_bb(exit->src);
  gcond *test = gsi_end_p(last) ? NULL : dyn_cast<gcond *>(gsi_stmt(last));
  if (!test || !dominated_by_p(CDI_DOMINATORS, l->latch, exit->src)) return false;
  if (gimple_cond_code(test) != (exit->flags & EDGE_TRUE_VALUE ? EQ_EXPR : NE_EXPR)) return false;
  affine_iv iv, bound;
  if (!simple_iv(l, l, gimple_cond_lhs(test), &iv, false)) return false;
  if (!simple_iv(l, l, gimple_cond_rhs(test), &bound, false)) return false;
  if (integer_zerop(iv.step)) std::swap(iv, bound);
  if (!integer_zerop(bound.step) || integer_zerop(iv.step)) return false;
  if (!cst_and_fits_in_hwi(iv.step)) return false;
  const HOST_WIDE_INT step = int_cst_value(iv.step);
  tree way = step < 0 ? difference(iv.base, bound.base) : difference(bound.base, iv.base);
  interval ways;
  if (!find(way, true, &ways, depth + 1)) return false;
  /* Not exact if negative, but then more than the loop can do. */
  tree rounds = combine(TRUNC_DIV_EXPR, ways.high, build_int_cst(wide_type(), absu_hwi(step)));
  *found = {build_zero_cst(wide_type()), rounds};
  return true;
}

bool find_place(tree reference, place_in_memory *found) {
  poly_int64 bit_size, bit_position;
  machine_mode mode;
  int is_unsigned, reversed, is_volatile = 0;
  tree size = TYPE_SIZE_UNIT(TREE_TYPE(reference));
  if (TREE_THIS_VOLATILE(reference) || !size || !tree_fits_uhwi_p(size)) return false;
  found->base = get_inner_reference(reference, &bit_size, &bit_position, &found->variable_offset,
                                    &mode, &is_unsigned, &reversed, &is_volatile);
  const HOST_WIDE_INT first = bit_position.to_constant();
  found->offset = first / BITS_PER_UNIT;
  const bool is_whole = known_eq(bit_size, (poly_int64)(tree_to_uhwi(size) * BITS_PER_UNIT));
  return is_whole && !(first % BITS_PER_UNIT) && !reversed && !is_volatile;
}

/* It is loaded before the loop even if that would not load it, so the address is kept inside the
 * variable. */
bool interval_finder::of_load(tree reference, interval *found) const {
  place_in_memory place;
  if (!find_place(reference, &place)) return false;
  tree type = TREE_TYPE(reference), part = TYPE_SIZE_UNIT(type), variable = place.base;
  if (TREE_CODE(variable) == MEM_REF && TREE_CODE(TREE_OPERAND(variable, 0)) == ADDR_EXPR) {
    place.offset += mem_ref_offset(variable).to_constant().to_shwi();
    variable = TREE_OPERAND(TREE_OPERAND(variable, 0), 0);
  }
  if (!VAR_P(variable) || !is_global_var(variable) || place.offset < 0) return false;
  if (DECL_THREAD_LOCAL_P(variable) || DECL_WEAK(variable)) return false;
  /* Elsewhere it may be smaller than it is declared here. */
  tree more = place.variable_offset;
  if (more && (DECL_EXTERNAL(variable) || !is_invariant(more))) return false;
  tree whole = DECL_SIZE_UNIT(variable);
  if (!whole || !tree_fits_uhwi_p(whole) || tree_to_uhwi(whole) < tree_to_uhwi(part)) return false;
  if (is_changed(reference)) return false;
  tree bytes = build_int_cst(wide_type(), place.offset);
  if (more) bytes = combine(PLUS_EXPR, bytes, fold_convert(wide_type(), more));
  tree last = build_int_cst(wide_type(), tree_to_uhwi(whole) - tree_to_uhwi(part));
  tree at = fold_convert(sizetype, combine(MIN_EXPR, bytes, last));
  tree address = fold_build_pointer_plus(build_fold_addr_expr(variable), at);
  tree anything = build_pointer_type_for_mode(char_type_node, ptr_mode, true);
  tree plain = build_aligned_type(TYPE_MAIN_VARIANT(type), BITS_PER_UNIT);
  tree value = build2(MEM_REF, plain, address, build_int_cst(anything, 0));
  *found = point_of(fold_convert(wide_type(), value));
  return true;
}

/* Functions that write none of the program's variables, or never return to the loop. */
static bool writes_nothing(gcall *call) {
  if (is_math(call) || gimple_call_noreturn_p(call)) return true;
  if (gimple_call_internal_p(call)) {
    const char *name = internal_fn_name(gimple_call_internal_fn(call));
    return !strstr(name, "STORE") && !is_barrier(call);
  }
  tree function = gimple_call_fndecl(call);
  return function && commsan_writes_nothing(IDENTIFIER_POINTER(DECL_NAME(function)));
}

/* Whether a function writes only where its first argument points, as many bytes as the last says:
 * keep_call has hidden that from gcc. */
static bool fills(gcall *call) {
  tree function = gimple_call_fndecl(call);
  if (!function || gimple_call_num_args(call) < 2) return false;
  if (function == hook_declaration(COPY) || function == hook_declaration(CLEAR)) return true;
  const char *name = IDENTIFIER_POINTER(DECL_NAME(function));
  return !strcmp(name, "memcpy") || !strcmp(name, "memmove") || !strcmp(name, "memset");
}

static bool may_change(gimple *statement, tree reference) {
  gcall *call = dyn_cast<gcall *>(statement);
  if (call && writes_nothing(call)) return false;
  if (!call || !fills(call)) return stmt_may_clobber_ref_p(statement, reference);
  tree size = gimple_call_arg(call, gimple_call_num_args(call) - 1);
  ao_ref written, read;
  ao_ref_init_from_ptr_and_size(&written, gimple_call_arg(call, 0), size);
  ao_ref_init(&read, reference);
  return refs_may_alias_p_1(&written, &read, false);
}

bool interval_finder::is_changed(tree reference) const {
  basic_block *blocks = get_loop_body(outer);
  bool changed = false;
  for (unsigned i = 0; i < outer->num_nodes && !changed; i++)
    for (gimple_stmt_iterator s = gsi_start_bb(blocks[i]); !gsi_end_p(s) && !changed; gsi_next(&s))
      changed = gimple_vdef(gsi_stmt(s)) && may_change(gsi_stmt(s), reference);
  free(blocks);
  return changed;
}
