/* Which memory a loop may access, known before it is entered.
 *
 * Of an address there is an interval (interval.cc), or it stays in the object that its pointer
 * leads to, as the languages demand: a variable, whose size the compiler knows, or a block of heap,
 * whose size the runtime knows. A pointer that the loop itself loads is as it was before the loop,
 * if that does not change it. Of all other accesses nothing is known.
 *
 * A range that is longer than any object, or ends before it begins, is answered with no
 * (hooks/region.c). Missed is an access through a pointer that has left its object for another one.
 */
#include "interval.h"

#include "tree-affine.h"

/* Limits: each test costs as much as some checks. */
static const unsigned most_tests = 64;
/* Neighbouring ranges closer than this, in bytes, are one. */
static const HOST_WIDE_INT near = 4096;

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
  const tree_code code = gimple_assign_rhs_code(definition);
  const bool copies = gimple_assign_single_p(definition) || CONVERT_EXPR_CODE_P(code);
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
    auto operand = [&](unsigned i) {
      return gimple_num_ops(assign) > i ? gimple_op(assign, i) : NULL_TREE;
    };
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
    place_in_memory place;
    if (finder.of_load(reference, &found)) return fold_convert(ptr_type_node, found.low);
    if (!find_place(reference, &place) || place.variable_offset) return NULL_TREE;
    if (TREE_CODE(place.base) != MEM_REF || depth > deepest) return NULL_TREE;
    tree pointer = TREE_OPERAND(place.base, 0);
    if (TREE_CODE(pointer) != SSA_NAME) return NULL_TREE;
    if (!finder.is_invariant(pointer)) {
      gassign *definition = dyn_cast<gassign *>(SSA_NAME_DEF_STMT(pointer));
      if (!definition || !gimple_assign_load_p(definition)) return NULL_TREE;
      pointer = loaded(definition, depth + 1);
    }
    if (!pointer || finder.is_changed(reference)) return NULL_TREE;
    const HOST_WIDE_INT at = place.offset + mem_ref_offset(place.base).to_constant().to_shwi();
    return build_call_expr(hook_declaration(POINTEE), 2, pointer,
                           build_int_cst(long_integer_type_node, at));
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
    /* An array of one element may stand for another object, in old Fortran. */
    tree type = TREE_TYPE(variable);
    if (TREE_CODE(type) == ARRAY_TYPE && tree_int_cst_equal(size, TYPE_SIZE_UNIT(TREE_TYPE(type))))
      return false;
    r.is_vague |= RECORD_OR_UNION_TYPE_P(type);
    tree start = fold_convert(wide_type(), root);
    add_span(r, start, start, 0, tree_to_shwi(size), write);
  }
  return true;
}

static bool add_access(reach &r, const interval_finder &finder, const memory_access &a) {
  interval where, size = {};
  bool is_known = finder.find(a.origin, false, &where);
  if (is_known && !a.size) {
    is_known = finder.find(a.variable_size, true, &size);
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
  const interval_finder finder(l);
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
