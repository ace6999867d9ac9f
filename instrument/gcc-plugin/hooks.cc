/* Declarations of the functions that instrumented code calls.
 *
 * The slow-path calls of a check preserve all registers, in contrast to the platform's ABI
 * (hooks/inline.c), so that the code around them can keep its values there. gcc has no attribute
 * that declares this to callers. Since version 10 it has the notion of ABIs that differ in the
 * registers that a call clobbers; this file adds one. For gcc 9 the calls are ordinary ones.
 */
#include "plugin.h"

#include "bversion.h"
#include "regs.h"
#if BUILDING_GCC_MAJOR >= 10
#include "function-abi.h"
#endif
#include "target.h"

static GTY(()) tree declarations[HOOKS];
static GTY(()) tree preserving_type;
static GTY(()) tree error_code;

static const ggc_root_tab roots[] = {
    {declarations, HOOKS, sizeof(tree), &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node},
    {&preserving_type, 1, sizeof(tree), &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node},
    {&error_code, 1, sizeof(tree), &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node},
    LAST_GGC_ROOT_TAB};

#if BUILDING_GCC_MAJOR >= 10
/* Hooks exist only for x86, for which gcc defines two ABIs itself. */
static const unsigned preserving_abi = NUM_ABI_IDS - 1;

static const predefined_function_abi &(*abi_by_default)(const_tree);

/* x87 registers are a stack that must be empty at calls; nothing preserves flags. */
static HARD_REG_SET clobbered() {
  HARD_REG_SET set = reg_class_contents[FLOAT_REGS];
  SET_HARD_REG_BIT(set, FLAGS_REG);
  SET_HARD_REG_BIT(set, FPSR_REG);
  return set;
}

static const predefined_function_abi &abi_of(const_tree type) {
  if (type != preserving_type)
    return abi_by_default ? abi_by_default(type) : default_function_abi;
  predefined_function_abi &abi = function_abis[preserving_abi];
  if (!abi.initialized_p()) abi.initialize(preserving_abi, clobbered());
  return abi;
}

static void set_up_abi() {
  abi_by_default = targetm.calls.fntype_abi;
  targetm.calls.fntype_abi = abi_of;
}
#else
static void set_up_abi() {}
#endif

tree plain_declaration(const char *name, tree type) {
  tree declaration = build_decl(UNKNOWN_LOCATION, FUNCTION_DECL, get_identifier(name), type);
  TREE_PUBLIC(declaration) = 1;
  DECL_EXTERNAL(declaration) = 1;
  DECL_ARTIFICIAL(declaration) = 1;
  TREE_NOTHROW(declaration) = 1;
  return declaration;
}

static tree range_type() {
  return build_function_type_list(void_type_node, ptr_type_node, size_type_node, NULL_TREE);
}

static tree type_of(hook which) {
  switch (which) {
  case READ:
  case WRITE:
  case SHARE:
    if (!preserving_type) preserving_type = build_distinct_type_copy(range_type());
    return preserving_type;
  case COPY:
    return build_function_type_list(void_type_node, ptr_type_node, ptr_type_node, size_type_node,
                                    NULL_TREE);
  case LANES:
    return build_function_type_list(void_type_node, ptr_type_node, ptr_type_node, ptr_type_node,
                                    long_unsigned_type_node, NULL_TREE);
  case RANGE_CLEAR:
  case OBJECT_CLEAR:
    return build_function_type_list(long_unsigned_type_node, long_unsigned_type_node,
                                    long_unsigned_type_node, long_unsigned_type_node, NULL_TREE);
  case POINTEE:
    return build_function_type_list(ptr_type_node, ptr_type_node, long_integer_type_node, NULL_TREE);
  case SPAN_CLEAR:
    return build_function_type_list(long_unsigned_type_node, long_unsigned_type_node,
                                    long_unsigned_type_node, long_unsigned_type_node,
                                    long_unsigned_type_node, NULL_TREE);
  case READ_SWEEP:
  case WRITE_SWEEP:
    return build_function_type_list(void_type_node, long_unsigned_type_node, long_unsigned_type_node,
                                    long_unsigned_type_node, long_unsigned_type_node, NULL_TREE);
  case SYNCHRONISE:
    return build_function_type_list(void_type_node, ptr_type_node, integer_type_node, NULL_TREE);
  case MISSING_IERROR:
  case ENTRY: return build_function_type_list(void_type_node, ptr_type_node, NULL_TREE);
  case EXIT:
  case EXIT_MARK: return build_function_type_list(void_type_node, NULL_TREE);
  default: return range_type();
  }
}

static tree declare(hook which) {
  static const char *const names[HOOKS] = {
      "__commsan_read",     "__commsan_write", "__tsan_read_range", "__tsan_write_range",
      "__commsan_lanes",    "__commsan_copy",  "__commsan_clear",   "__tsan_func_entry",
      "__tsan_func_exit",   "__commsan_range_clear", "__commsan_span_clear",
      "__commsan_object_clear", "__commsan_pointee", "__commsan_read_sweep", "__commsan_write_sweep", "__tsan_func_exit", "__commsan_share", "__commsan_synchronise",
      "__commsan_missing_ierror"};
  tree declaration = plain_declaration(names[which], type_of(which));
  DECL_VISIBILITY(declaration) = VISIBILITY_HIDDEN;
  DECL_VISIBILITY_SPECIFIED(declaration) = 1;
  if (which == READ || which == WRITE || which == SHARE || which == EXIT_MARK) {
    /* It accesses nothing that the compiler knows of, but must not be optimized away. */
    TREE_READONLY(declaration) = 1;
    DECL_LOOPING_CONST_OR_PURE_P(declaration) = 1;
  }
  return declaration;
}

tree hook_declaration(hook which) {
  if (!declarations[which]) declarations[which] = declare(which);
  return declarations[which];
}

tree hook_error_code() {
  if (!error_code) {
    error_code = build_decl(UNKNOWN_LOCATION, VAR_DECL, get_identifier("__commsan_ierror"),
                            integer_type_node);
    TREE_PUBLIC(error_code) = 1;
    DECL_EXTERNAL(error_code) = 1;
    DECL_ARTIFICIAL(error_code) = 1;
    TREE_ADDRESSABLE(error_code) = 1;
    DECL_VISIBILITY(error_code) = VISIBILITY_HIDDEN;
    DECL_VISIBILITY_SPECIFIED(error_code) = 1;
  }
  return error_code;
}

void set_up_hooks() {
  register_callback("commsan", PLUGIN_REGISTER_GGC_ROOTS, NULL, (void *)roots);
  set_up_abi();
}
