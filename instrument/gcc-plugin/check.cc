/* The check: tests one byte of the page filter, and calls a hook if it concerns the access.
 *
 *   if (filter[address >> 12 & slots] & concern) __commsan_read(address, size);
 */
#include "plugin.h"

#include "../hooks/commsan_abi.h"

/* The line of a statement that uses a result, if there is one. */
static location_t place_of_use(gimple *statement, int depth) {
  tree result = gimple_get_lhs(statement);
  if (!result || TREE_CODE(result) != SSA_NAME) return UNKNOWN_LOCATION;
  imm_use_iterator i;
  use_operand_p use;
  FOR_EACH_IMM_USE_FAST(use, i, result) {
    gimple *user = USE_STMT(use);
    if (is_gimple_debug(user)) continue;
    if (gimple_location(user) != UNKNOWN_LOCATION) return gimple_location(user);
    const location_t further = depth > 0 ? place_of_use(user, depth - 1) : UNKNOWN_LOCATION;
    if (further != UNKNOWN_LOCATION) return further;
  }
  return UNKNOWN_LOCATION;
}

/* The vectorizer's loads of ordered sums have no line: they get that of a statement that has
 * one. */
location_t place_of(gimple *statement) {
  const int far = 4;
  const location_t own = gimple_location(statement);
  if (own != UNKNOWN_LOCATION) return own;
  const location_t used = place_of_use(statement, far);
  if (used != UNKNOWN_LOCATION) return used;
  for (gimple_stmt_iterator i = gsi_for_stmt(statement); !gsi_end_p(i); gsi_next(&i))
    if (gimple_location(gsi_stmt(i)) != UNKNOWN_LOCATION) return gimple_location(gsi_stmt(i));
  return UNKNOWN_LOCATION;
}

check_point::check_point(gimple *before) : at(gsi_for_stmt(before)), where(place_of(before)) {}

check_point::check_point(edge on, location_t where)
    : at(gsi_start_bb(split_edge(on))), where(where) {}

static void insert(check_point &point, gimple *statement) {
  gimple_set_location(statement, point.where);
  gsi_insert_before(&point.at, statement, GSI_SAME_STMT);
}

/* In contrast to force_gimple_operand_gsi, this also works at the end of a block. */
tree check_point::value(tree expression) {
  gimple_seq statements = NULL;
  tree result = force_gimple_operand(expression, &statements, true, NULL_TREE);
  for (gimple_stmt_iterator i = gsi_start(statements); !gsi_end_p(i); gsi_next(&i)) {
    gimple_set_location(gsi_stmt(i), where);
    if (loads && gimple_assign_load_p(gsi_stmt(i))) loads->add(gsi_stmt(i));
  }
  gsi_insert_seq_before(&at, statements, GSI_SAME_STMT);
  return result;
}

tree check_point::load(tree type, tree address) {
  tree memory = build2(MEM_REF, type, address, build_int_cst(ptr_type_node, 0));
  TREE_THIS_NOTRAP(memory) = 1;
  tree result = make_ssa_name(type);
  gimple *load = gimple_build_assign(result, memory);
  if (loads) loads->add(load);
  insert(*this, load);
  return result;
}

tree check_point::call(tree function, std::initializer_list<tree> arguments) {
  auto_vec<tree> list;
  for (tree argument : arguments) list.safe_push(value(argument));
  gcall *call = gimple_build_call_vec(function, list);
  tree type = TREE_TYPE(TREE_TYPE(function)), result = NULL_TREE;
  if (!VOID_TYPE_P(type)) gimple_call_set_lhs(call, result = make_ssa_name(type));
  insert(*this, call);
  return result;
}

check_point check_point::if_rarely(tree value) {
  gcond *condition =
      gimple_build_cond(NE_EXPR, value, build_zero_cst(TREE_TYPE(value)), NULL_TREE, NULL_TREE);
  insert(*this, condition);
  basic_block block = gimple_bb(condition);
  edge past = split_block(block, condition);
  const profile_probability rarely = profile_probability::very_unlikely();
  past->flags = EDGE_FALSE_VALUE;
  past->probability = rarely.invert();

  basic_block rare = create_empty_bb(block);
  rare->count = block->count.apply_probability(rarely);
  if (current_loops) add_bb_to_loop(rare, block->loop_father);
  if (dom_info_available_p(CDI_DOMINATORS)) set_immediate_dominator(CDI_DOMINATORS, rare, block);
  make_edge(block, rare, EDGE_TRUE_VALUE)->probability = rarely;
  make_single_succ_edge(rare, past->dest, EDGE_FALLTHRU);

  check_point inside = *this;
  inside.at = gsi_start_bb(rare);
  at = gsi_start_bb(past->dest);
  return inside;
}

tree value_or_one(check_point &after, check_point &inside, tree value) {
  tree type = TREE_TYPE(value), result = make_ssa_name(type);
  gphi *phi = create_phi_node(result, gsi_bb(after.at));
  edge from;
  edge_iterator i;
  FOR_EACH_EDGE(from, i, gsi_bb(after.at)->preds)
  add_phi_arg(phi, from->src == gsi_bb(inside.at) ? value : build_one_cst(type), from,
              UNKNOWN_LOCATION);
  return result;
}

tree header_field(HOST_WIDE_INT offset) {
  return build_int_cst(ptr_type_node, COMMSAN_BASE - 4096 + offset);
}

static tree filter_base;

void forget_filter_base() { filter_base = NULL_TREE; }

/* No instruction can have the address as an operand, so a register holds it. */
static tree base_of_filter() {
  tree constant = build_int_cst(ptr_type_node, COMMSAN_BASE);
  if (!optimize) return constant;
  if (!filter_base) {
    edge entry = single_succ_edge(ENTRY_BLOCK_PTR_FOR_FN(cfun));
    if (!single_pred_p(entry->dest)) split_edge(entry), entry = single_succ_edge(ENTRY_BLOCK_PTR_FOR_FN(cfun));
    filter_base = make_ssa_name(ptr_type_node);
    gimple_stmt_iterator start = gsi_after_labels(entry->dest);
    gsi_insert_before(&start, gimple_build_assign(filter_base, constant), GSI_SAME_STMT);
  }
  return filter_base;
}

static tree filter_byte(check_point &point, tree address) {
  tree page = fold_build2(RSHIFT_EXPR, long_unsigned_type_node,
                          fold_convert(long_unsigned_type_node, address),
                          build_int_cst(integer_type_node, COMMSAN_PAGE_SHIFT));
  tree slot = fold_build2(BIT_AND_EXPR, long_unsigned_type_node, page,
                          build_int_cst(long_unsigned_type_node, COMMSAN_SLOT_MASK));
  tree byte = fold_build_pointer_plus(base_of_filter(), fold_convert(sizetype, slot));
  return point.load(unsigned_char_type_node, point.value(byte));
}

tree filter_hit(check_point &point, tree first, tree last, bool write) {
  tree bits = filter_byte(point, first);
  if (last != first)
    bits = fold_build2(BIT_IOR_EXPR, unsigned_char_type_node, bits, filter_byte(point, last));
  const unsigned concern = write ? COMMSAN_CHECK_WRITE : COMMSAN_CHECK_READ;
  return point.value(fold_build2(BIT_AND_EXPR, unsigned_char_type_node, bits,
                                 build_int_cst(unsigned_char_type_node, concern)));
}

static void call_hook(check_point &point, const memory_access &a, tree address, HOST_WIDE_INT delta) {
  const bool small = a.size && a.size <= 64;
  tree size = a.size ? build_int_cst(size_type_node, a.size) : fold_convert(size_type_node, a.variable_size);
  point.where = place_of(a.statement);
  point.call(hook_declaration(small ? a.write ? WRITE : READ : a.write ? WRITE_RANGE : READ_RANGE),
             {fold_build_pointer_plus_hwi(address, delta), size});
}

void check(check_point point, const vec<memory_access> &group) {
  const memory_access &first = group[0];
  HOST_WIDE_INT begin = first.offset, end = first.end();
  for (const memory_access &a : group) begin = MIN(begin, a.offset), end = MAX(end, a.end());

  tree address = point.value(fold_build_pointer_plus_hwi(unshare_expr(first.origin), begin));
  if (first.size && shares_memory(current_function_decl)) {
    tree parallel = header_field(offsetof(commsan_abi, parallel));
    check_point several = point.if_rarely(point.load(long_unsigned_type_node, parallel));
    several.where = place_of(first.statement);
    several.call(hook_declaration(SHARE), {address, build_int_cst(size_type_node, end - begin)});
  }
  tree hit;
  if (!first.size || end - begin > 4096) {
    tree live = header_field(offsetof(commsan_abi, live));
    hit = point.load(long_unsigned_type_node, live);
  } else {
    const bool one_page = group.length() == 1 && first.size <= first.alignment;
    tree last = address;
    if (!one_page) last = point.value(fold_build_pointer_plus_hwi(address, end - begin - 1));
    hit = filter_hit(point, address, last, first.write);
  }
  check_point rare = point.if_rarely(hit);
  for (const memory_access &a : group) call_hook(rare, a, address, a.offset - begin);
}
