/* Masked and gathered accesses: vectors determine the accessed bytes, and a hook decodes them. It
 * is called only while anything is pending. */
#include "plugin.h"

#include "../hooks/commsan_abi.h"

/* The hook's arguments: index and mask are vectors in memory. Without an index, lanes are
 * contiguous; a mask of width 0 is a bit mask. */
struct lanes {
  tree pointer, data, index, mask;
  unsigned scale;
  bool write;
};

static bool has(const char *name, const char *part) { return strstr(name, part) != NULL; }

static bool of_internal(gcall *call, lanes &l) {
  const internal_fn which = gimple_call_internal_fn(call);
  if (which != IFN_MASK_LOAD && which != IFN_MASK_STORE) return false;
  l.write = which == IFN_MASK_STORE;
  l.pointer = gimple_call_arg(call, 0);
  l.mask = gimple_call_arg(call, 2);
  l.data = l.write ? gimple_call_arg(call, 3) : gimple_call_lhs(call);
  return l.data != NULL_TREE;
}

/* Handles machine intrinsics, including those that the vectorizer generates. */
static bool of_machine(gcall *call, const char *name, lanes &l) {
  const unsigned count = gimple_call_num_args(call);
  auto argument = [&](unsigned i) { return gimple_call_arg(call, i); };
  if (count == 5 && (has(name, "_gather") || has(name, "_scatter"))) {
    l.write = has(name, "_scatter");
    l.pointer = argument(l.write ? 0 : 1);
    l.index = argument(2);
    l.mask = argument(l.write ? 1 : 3);
    l.data = l.write ? argument(3) : gimple_call_lhs(call);
    l.scale = int_cst_value(argument(4));
  } else if (has(name, "_maskload") || has(name, "_maskstore")) {
    l.write = has(name, "_maskstore");
    l.pointer = argument(0);
    l.mask = argument(1);
    l.data = l.write ? argument(2) : gimple_call_lhs(call);
  } else if (count == 3 && has(name, "_mask") && (has(name, "_load") || has(name, "_store"))) {
    l.write = has(name, "_store");
    l.pointer = argument(0);
    l.mask = argument(2);
    l.data = l.write ? argument(1) : gimple_call_lhs(call);
  } else {
    return false;
  }
  return l.data != NULL_TREE && VECTOR_TYPE_P(TREE_TYPE(l.data)) &&
         POINTER_TYPE_P(TREE_TYPE(l.pointer));
}

static unsigned lane_size(tree vector) {
  return tree_to_uhwi(TYPE_SIZE_UNIT(TREE_TYPE(TREE_TYPE(vector))));
}

static unsigned lane_count(tree vector) {
  return TYPE_VECTOR_SUBPARTS(TREE_TYPE(vector)).to_constant();
}

static tree in_memory(check_point &point, tree value) {
  if (!value) return null_pointer_node;
  tree type = TREE_TYPE(value), variable = create_tmp_var(type);
  TREE_ADDRESSABLE(variable) = 1;
  gimple *store = gimple_build_assign(variable, value);
  gsi_insert_before(&point.at, store, GSI_SAME_STMT);
  return build_fold_addr_expr(variable);
}

static bool describe(gcall *call, lanes &l) {
  if (gimple_call_internal_p(call)) return of_internal(call, l);
  tree function = gimple_call_fndecl(call);
  return function && fndecl_built_in_p(function, BUILT_IN_MD) &&
         of_machine(call, IDENTIFIER_POINTER(DECL_NAME(function)), l);
}

bool find_masked_span(gcall *call, vec<memory_access> &found) {
  lanes l = {};
  if (!describe(call, l) || l.index) return false;
  memory_access span =
      access_through(l.pointer, int_size_in_bytes(TREE_TYPE(l.data)), l.write, call);
  look_through_pointer(span);
  found.safe_push(span);
  return true;
}

bool find_gathered(gcall *call, tree *pointer, bool *write) {
  lanes l = {};
  if (!describe(call, l) || !l.index) return false;
  *pointer = l.pointer;
  *write = l.write;
  return true;
}

bool check_lanes(gcall *call) {
  lanes l = {};
  if (!describe(call, l)) return false;
  const bool mask_is_vector = VECTOR_MODE_P(TYPE_MODE(TREE_TYPE(l.mask)));
  unsigned count = lane_count(l.data);
  if (l.index) count = MIN(count, lane_count(l.index));
  const HOST_WIDE_INT shape[] = {l.write,
                                 count,
                                 lane_size(l.data),
                                 mask_is_vector ? lane_size(l.mask) : 0,
                                 l.index ? lane_size(l.index) : 0,
                                 l.scale};
  HOST_WIDE_INT packed = 0;
  for (unsigned i = 0; i < ARRAY_SIZE(shape); i++) packed |= shape[i] << 8 * i;

  check_point point(call);
  tree live = point.load(long_unsigned_type_node, header_field(offsetof(commsan_abi, live)));
  check_point rare = point.if_rarely(live);
  tree index = in_memory(rare, l.index), mask = in_memory(rare, l.mask);
  rare.call(hook_declaration(LANES),
            {l.pointer, index, mask, build_int_cst(long_unsigned_type_node, packed)});
  return true;
}
