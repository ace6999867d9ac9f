/* Which memory a loop may access, known before it is entered.
 *
 * An address that changes in constant steps in each loop around it has a least and a greatest value
 * that the loops' bounds give: interval arithmetic over scalar evolution, in 64 bits. Any other stays
 * in the object that its pointer leads to, as the languages demand: a variable, whose size the
 * compiler knows, or a block of heap, whose size the runtime knows. Of an access through a pointer
 * that the loop itself loads nothing is known.
 *
 * What overflows gives a range that ends before it begins, or is longer than any object, and is
 * answered with no (hooks/region.c). Missed is a pointer that leaves its object for another one.
 */
#include "plugin.h"

#include "gimple-pretty-print.h"
#include "gimple-pretty-print.h"
#include "tree-affine.h"
#include "tree-ssa-alias.h"
#include "tree-scalar-evolution.h"
#include "tree-ssa-loop.h"
#include "tree-ssa-loop-ivopts.h"
#include "tree-ssa-loop-niter.h"

/* Limits: each test costs as much as some checks, and deep expressions more than they save. */
static const unsigned most_tests = 64;
static const int deepest = 24;
/* Numbers of so many bits do not wrap around: an index that does would leave its array, if it is not
 * reduced by an operation of which nothing is known here. */
static const unsigned narrowest = 32;
/* Neighbouring ranges closer than this, in bytes, are one. */
static const HOST_WIDE_INT near = 4096;

/* Least and greatest value, as expressions of 64 bits without statements yet. */
struct interval {
  tree low, high;
};

static tree wide_type() { return long_unsigned_type_node; }

static tree combine(tree_code code, tree a, tree b) {
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

static interval product(const interval &a, tree factor) {
  tree one = combine(MULT_EXPR, a.low, factor);
  if (is_point(a)) return point_of(one);
  tree other = combine(MULT_EXPR, a.high, factor);
  if (TREE_CODE(factor) == INTEGER_CST)
    return int_cst_value(factor) < 0 ? interval{other, one} : interval{one, other};
  return {choose(MIN_EXPR, one, other), choose(MAX_EXPR, one, other)};
}

static gimple *last_statement(basic_block block) {
  gimple_stmt_iterator i = gsi_last_nondebug_bb(block);
  return gsi_end_p(i) ? NULL : gsi_stmt(i);
}

/* Values of expressions while a loop runs, with those inside. */
struct interval_finder {
  class loop *outer;

  bool is_invariant(tree e) const {
    return expr_invariant_in_loop_p(outer, e) && !contains_abnormal_ssa_name_p(e) &&
           !generic_expr_could_trap_p(e);
  }

  /* `is_count` says that the value is a number of rounds, which is not negative. */
  bool find(tree e, bool is_count, int depth, interval *found) const {
    tree type = TREE_TYPE(e);
    if (depth > deepest || !(INTEGRAL_TYPE_P(type) || POINTER_TYPE_P(type))) return false;
    if (TREE_CODE(e) == INTEGER_CST) {
      wide_int value = wide_int::from(wi::to_wide(e), TYPE_PRECISION(wide_type()), SIGNED);
      *found = point_of(wide_int_to_tree(wide_type(), value));
      return true;
    }
    if (TYPE_PRECISION(type) > TYPE_PRECISION(wide_type())) return false;
    if (is_invariant(e)) {
      *found = point_of(fold_convert(wide_type(), unshare_expr(e)));
      return true;
    }
    if (TREE_CODE(e) == SSA_NAME) return of_name(e, is_count, depth, found);
    if (REFERENCE_CLASS_P(e) || DECL_P(e)) return of_load(e, found);
    if (TREE_CODE(e) == ADDR_EXPR) return of_address(e, is_count, depth, found);
    if (UNARY_CLASS_P(e) || CONVERT_EXPR_P(e))
      return of_operation(TREE_CODE(e), type, TREE_OPERAND(e, 0), NULL_TREE, is_count, depth, found);
    if (BINARY_CLASS_P(e))
      return of_operation(TREE_CODE(e), type, TREE_OPERAND(e, 0), TREE_OPERAND(e, 1), is_count, depth,
                          found);
    return false;
  }

  bool of_name(tree name, bool is_count, int depth, interval *found) const {
    gimple *definition = SSA_NAME_DEF_STMT(name);
    affine_iv iv;
    class loop *l = gimple_bb(definition)->loop_father;
    if (simple_iv(l, l, name, &iv, true) && !operand_equal_p(iv.base, name, 0) &&
        TYPE_PRECISION(TREE_TYPE(name)) >= narrowest)
      return of_progression(l, iv, depth, found);
    gassign *assign = dyn_cast<gassign *>(definition);
    if (!assign || gimple_has_volatile_ops(assign)) return false;
    tree other = gimple_num_ops(assign) > 2 ? gimple_assign_rhs2(assign) : NULL_TREE;
    if (gimple_num_ops(assign) > 3) return false;
    if (gimple_assign_single_p(assign))
      return find(gimple_assign_rhs1(assign), is_count, depth + 1, found);
    return of_operation(gimple_assign_rhs_code(assign), TREE_TYPE(name), gimple_assign_rhs1(assign),
                        other, is_count, depth, found);
  }

  bool of_address(tree e, bool is_count, int depth, interval *found) const {
    HOST_WIDE_INT offset = 0;
    tree memory = TREE_OPERAND(e, 0);
    if (TREE_CODE(memory) != MEM_REF && TREE_CODE(memory) != TARGET_MEM_REF) return false;
    if (!find(variable_address(memory, &offset), is_count, depth + 1, found)) return false;
    tree more = build_int_cst(wide_type(), offset);
    *found = {combine(PLUS_EXPR, found->low, more), combine(PLUS_EXPR, found->high, more)};
    return true;
  }

  /* Part of a variable that the loop does not change. It is loaded before the loop even if that
   * would not load it, so the address is kept inside the variable. */
  bool of_load(tree reference, interval *found) const {
    tree base = get_base_address(reference), type = TREE_TYPE(reference);
    if (!base || !VAR_P(base) || !is_global_var(base) || TREE_THIS_VOLATILE(reference)) return false;
    tree whole = DECL_SIZE_UNIT(base), part = TYPE_SIZE_UNIT(type);
    if (!whole || !tree_fits_uhwi_p(whole) || !tree_fits_uhwi_p(part)) return false;
    if (DECL_EXTERNAL(base) && (DECL_WEAK(base) || DECL_COMMON(base))) return false;
    poly_int64 bit_size, bit_position;
    tree offset;
    machine_mode mode;
    int is_unsigned, reversed, is_volatile = 0;
    tree inner = get_inner_reference(reference, &bit_size, &bit_position, &offset, &mode, &is_unsigned,
                                     &reversed, &is_volatile);
    HOST_WIDE_INT first = bit_position.to_constant();
    if (TREE_CODE(inner) == MEM_REF && TREE_CODE(TREE_OPERAND(inner, 0)) == ADDR_EXPR &&
        TREE_OPERAND(TREE_OPERAND(inner, 0), 0) == base) {
      first += mem_ref_offset(inner).to_constant().to_shwi() * BITS_PER_UNIT;
      inner = base;
    }
    if (inner != base || is_volatile || reversed || first < 0 || first % BITS_PER_UNIT) return false;
    if (maybe_ne(bit_size, (poly_int64)(tree_to_uhwi(part) * BITS_PER_UNIT))) return false;
    if (tree_to_uhwi(whole) < tree_to_uhwi(part) || is_changed(reference)) return false;
    tree bytes = build_int_cst(wide_type(), first / BITS_PER_UNIT);
    if (offset && !is_invariant(offset)) return false;
    if (offset) bytes = combine(PLUS_EXPR, bytes, fold_convert(wide_type(), offset));
    tree last = build_int_cst(wide_type(), tree_to_uhwi(whole) - tree_to_uhwi(part));
    tree at = combine(MIN_EXPR, bytes, last);
    tree address = fold_build_pointer_plus(build_fold_addr_expr(base), fold_convert(sizetype, at));
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
    if (!function) return false;
    const char *name = IDENTIFIER_POINTER(DECL_NAME(function));
    for (const char *known : {"MPI_Abort", "mpi_abort", "mpi_abort_", "printf", "fprintf", "puts", "fputs",
                              "putchar", "fputc", "fwrite", "fflush"})
      if (!strcmp(name, known)) return true;
    return false;
  }

  /* keep_call has hidden from gcc what functions of libc do. */
  static bool may_change(gimple *statement, tree reference) {
    gcall *call = dyn_cast<gcall *>(statement);
    if (!call) return stmt_may_clobber_ref_p(statement, reference);
    if (writes_nothing(call)) return false;
    tree function = gimple_call_fndecl(call);
    const unsigned arguments = gimple_call_num_args(call);
    if (!function || arguments < 2) return stmt_may_clobber_ref_p(statement, reference);
    const char *name = IDENTIFIER_POINTER(DECL_NAME(function));
    bool is_known = function == hook_declaration(COPY) || function == hook_declaration(CLEAR);
    for (const char *known : {"memcpy", "memmove", "memset"}) is_known |= !strcmp(name, known);
    if (!is_known) return stmt_may_clobber_ref_p(statement, reference);
    ao_ref written, read;
    ao_ref_init_from_ptr_and_size(&written, gimple_call_arg(call, 0), gimple_call_arg(call, arguments - 1));
    ao_ref_init(&read, reference);
    return refs_may_alias_p_1(&written, &read, false);
  }

  bool is_changed(tree reference) const {
    basic_block *blocks = get_loop_body(outer);
    bool changed = false;
    for (unsigned i = 0; i < outer->num_nodes && !changed; i++)
      for (gimple_stmt_iterator s = gsi_start_bb(blocks[i]); !gsi_end_p(s) && !changed; gsi_next(&s))
        changed = gimple_vdef(gsi_stmt(s)) && may_change(gsi_stmt(s), reference);
    free(blocks);
    return changed;
  }

  bool of_progression(class loop *l, const affine_iv &iv, int depth, interval *found) const {
    interval base, rounds, step;
    if (!find(iv.base, false, depth + 1, &base)) return false;
    if (integer_zerop(iv.step)) {
      *found = base;
      return true;
    }
    if (!find(iv.step, false, depth + 1, &step) || !is_point(step)) return false;
    if (!find_rounds(l, depth, &rounds)) return false;
    tree way = combine(MULT_EXPR, rounds.high, step.low);
    if (TREE_CODE(step.low) == INTEGER_CST) {
      if (int_cst_value(step.low) < 0) *found = {combine(PLUS_EXPR, base.low, way), base.high};
      else *found = {base.low, combine(PLUS_EXPR, base.high, way)};
      return true;
    }
    tree none = build_zero_cst(wide_type());
    *found = {combine(PLUS_EXPR, base.low, choose(MIN_EXPR, way, none)),
              combine(PLUS_EXPR, base.high, choose(MAX_EXPR, way, none))};
    return true;
  }

  /* The same for a loop that stays while a counter differs from a bound. */
  bool find_rounds_to(class loop *l, edge exit, int depth, interval *found) const {
    gcond *test = dyn_cast<gcond *>(last_statement(exit->src));
    if (!test || !dominated_by_p(CDI_DOMINATORS, l->latch, exit->src)) return false;
    const tree_code leaves = exit->flags & EDGE_TRUE_VALUE ? EQ_EXPR : NE_EXPR;
    if (gimple_cond_code(test) != leaves) return false;
    affine_iv iv, bound;
    if (!simple_iv(l, l, gimple_cond_lhs(test), &iv, false)) return false;
    if (!simple_iv(l, l, gimple_cond_rhs(test), &bound, false)) return false;
    if (integer_zerop(iv.step)) std::swap(iv, bound);
    if (!integer_zerop(bound.step) || integer_zerop(iv.step) || !cst_and_fits_in_hwi(iv.step)) return false;
    const HOST_WIDE_INT step = int_cst_value(iv.step);
    tree from = step < 0 ? bound.base : iv.base, to = step < 0 ? iv.base : bound.base;
    interval way;
    if (!find(difference(to, from), true, depth + 1, &way)) return false;
    tree each = build_int_cst(wide_type(), absu_hwi(step));
    *found = {build_zero_cst(wide_type()), combine(TRUNC_DIV_EXPR, way.high, each)};
    return true;
  }

  /* With what both have in common left out. */
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

  /* How often a loop returns to its start at most, if its counter does not wrap around. Before a
   * loop that is not entered the number may be anything: the range then includes all accesses, or
   * is none. */
  bool find_rounds(class loop *l, int depth, interval *found) const {
    bool any = false;
    edge e;
    unsigned i;
    auto_vec<edge> exits = get_loop_exit_edges(l);
    FOR_EACH_VEC_ELT(exits, i, e) {
      tree_niter_desc iterations;
      gcond *test;
      if (!any) any = find_rounds_to(l, e, depth, found);
      if (any || !number_of_iterations_exit_assumptions(l, e, &iterations, &test)) continue;
      any = find(iterations.niter, true, depth + 1, found);
    }
    return any;
  }

  bool of_operation(tree_code code, tree type, tree first, tree second, bool is_count, int depth,
                    interval *found) const {
    const unsigned precision = TYPE_PRECISION(type);
    interval a, b;
    if (CONVERT_EXPR_CODE_P(code)) {
      tree from = TREE_TYPE(first);
      if (!INTEGRAL_TYPE_P(from) && !POINTER_TYPE_P(from)) return false;
      if (!find(first, is_count, depth + 1, &a)) return false;
      *found = is_point(a) ? computed(code, type, first, a.low, NULL_TREE, NULL_TREE) : a;
      return is_point(a) || precision >= MIN(narrowest, TYPE_PRECISION(from));
    }
    if (!find(first, is_count, depth + 1, &a)) return false;
    if (second && !find(second, is_count, depth + 1, &b)) return false;
    if (is_point(a) && (!second || is_point(b)) && is_total(code, second)) {
      *found = computed(code, type, first, a.low, second, second ? b.low : NULL_TREE);
      return true;
    }
    if (precision < narrowest && !TYPE_OVERFLOW_UNDEFINED(type)) return false;
    if (code == NEGATE_EXPR) {
      *found = product(a, build_minus_one_cst(wide_type()));
      return true;
    }
    if (!second) return false;
    switch (code) {
    case PLUS_EXPR:
    case POINTER_PLUS_EXPR:
      *found = {combine(PLUS_EXPR, a.low, b.low), combine(PLUS_EXPR, a.high, b.high)};
      break;
    case MINUS_EXPR:
      *found = {combine(MINUS_EXPR, a.low, b.high), combine(MINUS_EXPR, a.high, b.low)};
      break;
    case MULT_EXPR:
      if (!is_point(a) && !is_point(b)) return false;
      *found = is_point(b) ? product(a, b.low) : product(b, a.low);
      return true;
    case LSHIFT_EXPR:
      if (TREE_CODE(b.low) != INTEGER_CST || tree_to_uhwi(b.low) >= precision) return false;
      *found = product(a, build_int_cst(wide_type(), HOST_WIDE_INT_1U << tree_to_uhwi(b.low)));
      return true;
    case TRUNC_DIV_EXPR:
    case EXACT_DIV_EXPR:
    case RSHIFT_EXPR:
      if (!is_count || TREE_CODE(b.low) != INTEGER_CST) return false;
      *found = {combine(code, a.low, b.low), combine(code, a.high, b.low)};
      break;
    case MIN_EXPR:
    case MAX_EXPR:
      *found = {choose(code, a.low, b.low), choose(code, a.high, b.high)};
      break;
    default: return false;
    }
    return true;
  }

  /* Whether an operation has a result for all operands. */
  static bool is_total(tree_code code, tree second) {
    switch (code) {
    case PLUS_EXPR: case POINTER_PLUS_EXPR: case MINUS_EXPR: case MULT_EXPR: case NEGATE_EXPR:
    case BIT_AND_EXPR: case BIT_IOR_EXPR: case BIT_XOR_EXPR: case BIT_NOT_EXPR: case MIN_EXPR:
    case MAX_EXPR:
      return true;
    case LSHIFT_EXPR: case RSHIFT_EXPR:
      return TREE_CODE(second) == INTEGER_CST && compare_tree_int(second, 32) < 0;
    case TRUNC_DIV_EXPR: case EXACT_DIV_EXPR: case TRUNC_MOD_EXPR:
      return TREE_CODE(second) == INTEGER_CST && tree_int_cst_sgn(second) > 0;
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
};

/* Splits off the constant part of an expression. */
static tree without_constant(tree e, HOST_WIDE_INT *constant) {
  aff_tree combination;
  tree_to_aff_combination(e, wide_type(), &combination);
  const auto offset = combination.offset.to_constant();
  if (!wi::fits_shwi_p(offset)) return e;
  *constant += offset.to_shwi();
  combination.offset = 0;
  return aff_combination_to_tree(&combination);
}

/* Adds bytes from `low + begin` up to `high + end`. */
static void add_span(reach &r, tree low, tree high, HOST_WIDE_INT begin, HOST_WIDE_INT end,
                     bool write) {
  for (reach_span &s : r.spans) {
    if (s.write != write || begin > s.end + near || end < s.begin - near) continue;
    if (!operand_equal_p(s.low, low, 0) || !operand_equal_p(s.high, high, 0)) continue;
    s.begin = MIN(s.begin, begin), s.end = MAX(s.end, end);
    return;
  }
  r.spans.safe_push({low, high, begin, end, write});
}

static void add_object(reach &r, tree pointer, bool write) {
  for (reach_object &o : r.objects)
    if (o.write == write && operand_equal_p(o.pointer, pointer, 0)) return;
  r.objects.safe_push({pointer, write});
}

/* Whether a pointer is as the program has got it, not computed from others. */
static bool is_whole(tree pointer, hash_set<tree> &seen) {
  if (TREE_CODE(pointer) == ADDR_EXPR) return DECL_P(TREE_OPERAND(pointer, 0));
  if (TREE_CODE(pointer) == INTEGER_CST) return integer_zerop(pointer);
  if (TREE_CODE(pointer) != SSA_NAME || !POINTER_TYPE_P(TREE_TYPE(pointer))) return false;
  if (seen.elements() > deepest || seen.add(pointer)) return seen.elements() <= deepest;
  gimple *definition = SSA_NAME_DEF_STMT(pointer);
  if (gimple_nop_p(definition) || is_gimple_call(definition)) return true;
  if (gphi *phi = dyn_cast<gphi *>(definition)) {
    for (unsigned i = 0; i < gimple_phi_num_args(phi); i++)
      if (!is_whole(gimple_phi_arg_def(phi, i), seen)) return false;
    return true;
  }
  if (!is_gimple_assign(definition)) return false;
  if (gimple_assign_load_p(definition)) return true;
  const bool copies = gimple_assign_single_p(definition) || CONVERT_EXPR_CODE_P(gimple_assign_rhs_code(definition));
  return copies && is_whole(gimple_assign_rhs1(definition), seen);
}

/* The objects that an address in a loop leads to: pointers and variables' addresses that it is
 * computed from, as they are before the loop. */
struct root_finder {
  const interval_finder &finder;
  auto_vec<tree> roots;
  auto_vec<tree> active;
  int steps = 0;

  explicit root_finder(const interval_finder &finder) : finder(finder) {}

  /* False if some are not known. A number that was loaded, or passed, is taken to be no pointer. */
  bool find(tree e, int depth = 0) {
    tree type = TREE_TYPE(e);
    if (depth > deepest || steps++ > most_steps) return false;
    if (VECTOR_TYPE_P(type) && POINTER_TYPE_P(TREE_TYPE(type))) return false;
    if (!POINTER_TYPE_P(type) && !INTEGRAL_TYPE_P(type) && !VECTOR_TYPE_P(type)) return true;
    if (CONSTANT_CLASS_P(e) || COMPARISON_CLASS_P(e)) return true;
    if (TREE_CODE(e) == ADDR_EXPR) return of_address(e, depth);
    if (TREE_CODE(e) == SSA_NAME) return of_name(e, depth);
    tree second = BINARY_CLASS_P(e) ? TREE_OPERAND(e, 1) : NULL_TREE;
    if (!second && !UNARY_CLASS_P(e) && !CONVERT_EXPR_P(e)) return false;
    return of_operation(TREE_CODE(e), TREE_OPERAND(e, 0), second, NULL_TREE, depth);
  }

private:
  static const int most_steps = 400;

  bool of_address(tree e, int depth) {
    HOST_WIDE_INT offset = 0;
    tree base = get_base_address(TREE_OPERAND(e, 0));
    if (!base) return false;
    if (TREE_CODE(base) == MEM_REF || TREE_CODE(base) == TARGET_MEM_REF)
      return find(variable_address(base, &offset), depth + 1);
    if (!VAR_P(base) && TREE_CODE(base) != PARM_DECL && TREE_CODE(base) != RESULT_DECL) return false;
    roots.safe_push(build_fold_addr_expr(base));
    return true;
  }

  bool of_name(tree name, int depth) {
    const bool is_pointer = POINTER_TYPE_P(TREE_TYPE(name));
    hash_set<tree> seen;
    if (is_pointer && finder.is_invariant(name) && is_whole(name, seen)) {
      roots.safe_push(name);
      return true;
    }
    gimple *definition = SSA_NAME_DEF_STMT(name);
    if (gphi *phi = dyn_cast<gphi *>(definition)) {
      if (active.contains(name)) return true;
      active.safe_push(name);
      bool known = true;
      for (unsigned i = 0; i < gimple_phi_num_args(phi) && known; i++)
        known = find(gimple_phi_arg_def(phi, i), depth + 1);
      active.pop();
      return known;
    }
    gassign *assign = dyn_cast<gassign *>(definition);
    if (!assign) return !is_pointer;
    if (gimple_assign_load_p(assign)) {
      if (!is_pointer) return true;
      tree pointer = loaded(assign, depth);
      if (pointer) roots.safe_push(pointer);
      return pointer;
    }
    auto operand = [&](unsigned i) { return gimple_num_ops(assign) > i ? gimple_op(assign, i) : NULL_TREE; };
    tree first = operand(1);
    if (gimple_assign_single_p(assign) && !is_gimple_val(first)) {
      /* Part of a vector, for example. */
      if (TREE_CODE(first) != BIT_FIELD_REF) return !is_pointer;
      first = TREE_OPERAND(first, 0);
    }
    return of_operation(gimple_assign_rhs_code(assign), first, operand(2), operand(3), depth);
  }

  /* A pointer may be one operand of a sum; a difference, or anything else, of pointers is none. */
  bool of_operation(tree_code code, tree first, tree second, tree third, int depth) {
    if (TREE_CODE_CLASS(code) == tcc_comparison) return true;
    const unsigned before = roots.length();
    if (!find(first, depth + 1)) return false;
    const unsigned between = roots.length();
    if (second && !find(second, depth + 1)) return false;
    if (third && !find(third, depth + 1)) return false;
    const bool in_first = between > before, in_second = roots.length() > between;
    if (code == SSA_NAME || code == ADDR_EXPR || CONVERT_EXPR_CODE_P(code)) return true;
    if (code == COND_EXPR) return !in_first;
    if (code == PLUS_EXPR) return !in_first || !in_second;
    if (code == POINTER_PLUS_EXPR || code == MINUS_EXPR) return !in_second;
    return !in_first && !in_second;
  }

  /* The same pointer before the loop, if the loop does not change it. */
  tree loaded(gassign *load, int depth) {
    tree reference = gimple_assign_rhs1(load);
    interval found;
    poly_int64 bit_size, bit_position;
    tree offset;
    machine_mode mode;
    int is_unsigned, reversed, is_volatile = 0;
    if (TREE_THIS_VOLATILE(reference)) return NULL_TREE;
    if (finder.of_load(reference, &found)) return fold_convert(ptr_type_node, found.low);
    tree base = get_inner_reference(reference, &bit_size, &bit_position, &offset, &mode, &is_unsigned,
                                    &reversed, &is_volatile);
    const HOST_WIDE_INT first = bit_position.to_constant();
    if (offset || is_volatile || reversed || first % BITS_PER_UNIT || TREE_CODE(base) != MEM_REF)
      return NULL_TREE;
    tree pointer = TREE_OPERAND(base, 0), exact = pointer;
    if (TREE_CODE(pointer) != SSA_NAME) return NULL_TREE;
    if (!finder.is_invariant(pointer)) {
      gassign *definition = dyn_cast<gassign *>(SSA_NAME_DEF_STMT(pointer));
      if (!definition || !gimple_assign_load_p(definition) || depth > deepest) return NULL_TREE;
      exact = loaded(definition, depth + 1);
    }
    if (!exact || finder.is_changed(reference)) return NULL_TREE;
    const HOST_WIDE_INT at = mem_ref_offset(base).to_constant().to_shwi() + first / BITS_PER_UNIT;
    return build_call_expr(hook_declaration(POINTEE), 2, exact, build_int_cst(long_integer_type_node, at));
  }
};

static bool add_roots(reach &r, tree address, const interval_finder &finder, bool write) {
  root_finder found(finder);
  if (!found.find(address) || found.roots.is_empty()) return false;
  for (tree root : found.roots) {
    if (TREE_CODE(root) != ADDR_EXPR) {
      add_object(r, root, write);
      continue;
    }
    tree variable = TREE_OPERAND(root, 0), size = DECL_SIZE_UNIT(variable);
    if (!size || !tree_fits_shwi_p(size) || tree_to_shwi(size) <= 0) return false;
    r.is_vague |= RECORD_OR_UNION_TYPE_P(TREE_TYPE(variable));
    tree start = fold_convert(wide_type(), root);
    add_span(r, start, start, 0, tree_to_shwi(size), write);
  }
  return true;
}

static bool add_access(reach &r, const interval_finder &finder, const memory_access &a) {
  interval where, size = {};
  bool is_known = finder.find(a.origin, false, 0, &where);
  if (is_known && !a.size) {
    is_known = finder.find(a.variable_size, true, 0, &size);
    if (is_known) where.high = combine(PLUS_EXPR, where.high, size.high);
  }
  if (is_known) {
    HOST_WIDE_INT least = 0, greatest = 0;
    tree low = without_constant(where.low, &least), high = without_constant(where.high, &greatest);
    add_span(r, low, high, a.offset + least, a.end() + greatest, a.write);
    return true;
  }
  return add_roots(r, a.origin, finder, a.write);
}

static bool add_statement(reach &r, const interval_finder &finder, gimple *statement) {
  auto_vec<memory_access> accesses;
  find_accesses(statement, accesses, accesses);
  if (gcall *call = dyn_cast<gcall *>(statement)) {
    tree pointer;
    bool write;
    if (find_gathered(call, &pointer, &write)) {
      if (!add_roots(r, pointer, finder, write)) return false;
    } else if (!find_masked_span(call, accesses)) {
      find_known_accesses(call, accesses);
    }
  }
  for (const memory_access &a : accesses)
    if (!add_access(r, finder, a)) return false;
  return true;
}

bool find_reach(class loop *l, reach &r) {
  const interval_finder finder = {l};
  basic_block *blocks = get_loop_body(l);
  bool known = true;
  for (unsigned i = 0; i < l->num_nodes && known; i++)
    for (gimple_stmt_iterator s = gsi_start_bb(blocks[i]); !gsi_end_p(s) && known; gsi_next(&s)) {
      if (is_gimple_debug(gsi_stmt(s))) continue;
      known = add_statement(r, finder, gsi_stmt(s));
      known &= r.spans.length() + r.objects.length() <= most_tests;
    }
  free(blocks);
  return known;
}

tree is_clear(check_point &point, const reach &r, tree clear) {
  tree type = wide_type();
  auto number = [&](HOST_WIDE_INT n) { return build_int_cst(type, n); };
  for (const reach_span &s : r.spans)
    clear = point.call(hook_declaration(SPAN_CLEAR),
                       {combine(PLUS_EXPR, s.low, number(s.begin)),
                        combine(PLUS_EXPR, s.high, number(s.end - 1)), number(s.write), clear});
  for (const reach_object &o : r.objects)
    clear = point.call(hook_declaration(OBJECT_CLEAR),
                       {fold_convert(type, unshare_expr(o.pointer)), number(o.write), clear});
  return clear;
}
