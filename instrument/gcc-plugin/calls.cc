/* Calls of functions that the compiler knows, and copies that may become such calls.
 *
 * During code generation, gcc expands some calls of libc functions in place. This file turns small
 * copies into plain assignments, which are checked as such. Everything else becomes a call,
 * guaranteed to remain one, of a function that the linker wraps.
 */
#include "plugin.h"

#include "builtins.h"
#include "bversion.h"

static const HOST_WIDE_INT small = 64;

static tree argument(gcall *call, unsigned i) {
  return i < gimple_call_num_args(call) ? gimple_call_arg(call, i) : NULL_TREE;
}

static void add(gcall *call, unsigned pointer, HOST_WIDE_INT size, bool write,
                vec<memory_access> &found) {
  memory_access a = access_through(argument(call, pointer), size, write, call);
  /* Atomic accesses are always aligned. */
  a.alignment = size;
  found.safe_push(a);
}

/* `__atomic_store_8`, `__sync_fetch_and_add_4`; builtins without a size call libatomic, or access
 * nothing. */
static void of_atomic(gcall *call, const char *name, vec<memory_access> &found) {
  const char *end = strrchr(name, '_') + 1;
  HOST_WIDE_INT size = atoi(end);
  if (!strcmp(name, "__atomic_test_and_set") || !strcmp(name, "__atomic_clear")) size = 1;
  if (!size) return;
  add(call, 0, size, !starts_with(name, "__atomic_load"), found);
  if (starts_with(name, "__atomic_compare_exchange")) add(call, 1, size, false, found);
}

static void of_internal(gcall *call, vec<memory_access> &found) {
  switch (gimple_call_internal_fn(call)) {
  case IFN_ATOMIC_BIT_TEST_AND_SET:
  case IFN_ATOMIC_BIT_TEST_AND_COMPLEMENT:
  case IFN_ATOMIC_BIT_TEST_AND_RESET:
    add(call, 0, int_size_in_bytes(TREE_TYPE(argument(call, 1))), true, found);
    break;
  case IFN_ATOMIC_COMPARE_EXCHANGE:
    add(call, 0, int_cst_value(argument(call, 3)) & 255, true, found);
    break;
#if BUILDING_GCC_MAJOR >= 12
  case IFN_ATOMIC_ADD_FETCH_CMP_0:
  case IFN_ATOMIC_SUB_FETCH_CMP_0:
  case IFN_ATOMIC_AND_FETCH_CMP_0:
  case IFN_ATOMIC_OR_FETCH_CMP_0:
  case IFN_ATOMIC_XOR_FETCH_CMP_0:
    add(call, 1, int_size_in_bytes(TREE_TYPE(argument(call, 2))), true, found);
    break;
#endif
  default: break;
  }
}

/* Intrinsics that load or store a whole vector; others appear as plain assignments, or are handled
 * in lanes.cc. */
static void of_machine(gcall *call, const char *name, vec<memory_access> &found) {
  tree pointer = argument(call, 0), result = gimple_call_lhs(call);
  if (starts_with(name, "__builtin_ia32_movnt") && !starts_with(name, "__builtin_ia32_movntdqa"))
    found.safe_push(
        access_through(pointer, int_size_in_bytes(TREE_TYPE(argument(call, 1))), true, call));
  else if (result && (starts_with(name, "__builtin_ia32_movntdqa") ||
                      starts_with(name, "__builtin_ia32_lddqu")))
    found.safe_push(access_through(pointer, int_size_in_bytes(TREE_TYPE(result)), false, call));
}

void find_known_accesses(gcall *call, vec<memory_access> &found) {
  tree function = gimple_call_fndecl(call);
  if (gimple_call_internal_p(call)) {
    of_internal(call, found);
  } else if (function && fndecl_built_in_p(function)) {
    const char *name = IDENTIFIER_POINTER(DECL_NAME(function));
    if (DECL_BUILT_IN_CLASS(function) == BUILT_IN_MD) of_machine(call, name, found);
    else if (starts_with(name, "__atomic_") || starts_with(name, "__sync_"))
      of_atomic(call, name, found);
  }
}

unsigned count_accesses(gimple *statement) {
  auto_vec<memory_access> found;
  if (is_gimple_debug(statement)) return 0;
  find_accesses(statement, found, found);
  if (gcall *call = dyn_cast<gcall *>(statement))
    if (!find_masked_span(call, found)) find_known_accesses(call, found);
  return found.length();
}

/* Functions that gcc may expand in place, and the functions to call instead. */
static const struct {
  built_in_function code;
  const char *name;
  unsigned arguments;
} expandable[] = {{BUILT_IN_MEMCPY, "memcpy", 3},       {BUILT_IN_MEMMOVE, "memmove", 3},
                  {BUILT_IN_MEMPCPY, "mempcpy", 3},     {BUILT_IN_MEMSET, "memset", 3},
                  {BUILT_IN_BCOPY, "bcopy", 3},         {BUILT_IN_BZERO, "bzero", 2},
                  {BUILT_IN_MEMCMP, "memcmp", 3},       {BUILT_IN_MEMCMP_EQ, "memcmp", 3},
                  {BUILT_IN_BCMP, "bcmp", 3},           {BUILT_IN_MEMCHR, "memchr", 3},
                  {BUILT_IN_STRCPY, "strcpy", 2},       {BUILT_IN_STPCPY, "stpcpy", 2},
                  {BUILT_IN_STRNCPY, "strncpy", 3},     {BUILT_IN_STPNCPY, "stpncpy", 3},
                  {BUILT_IN_STRCAT, "strcat", 2},       {BUILT_IN_STRNCAT, "strncat", 3},
                  {BUILT_IN_STRLEN, "strlen", 1},       {BUILT_IN_STRNLEN, "strnlen", 2},
                  {BUILT_IN_STRCMP, "strcmp", 2},       {BUILT_IN_STRCMP_EQ, "strcmp", 2},
                  {BUILT_IN_STRNCMP, "strncmp", 3},     {BUILT_IN_STRNCMP_EQ, "strncmp", 3},
                  {BUILT_IN_STRCASECMP, "strcasecmp", 2}, {BUILT_IN_STRNCASECMP, "strncasecmp", 3},
                  {BUILT_IN_STRCHR, "strchr", 2},       {BUILT_IN_STRRCHR, "strrchr", 2}};

static void replace(gimple *old, gimple *by) {
  gimple_stmt_iterator at = gsi_for_stmt(old);
  gimple_set_location(by, gimple_location(old));
  gimple_move_vops(by, old);
  gsi_replace(&at, by, true);
}

/* A reference to bytes of any type. */
static tree bytes_at(tree pointer, HOST_WIDE_INT size) {
  tree bytes = build_array_type_nelts(unsigned_char_type_node, size);
  tree anything = build_pointer_type_for_mode(char_type_node, ptr_mode, true);
  return fold_build2(MEM_REF, bytes, pointer, build_int_cst(anything, 0));
}

/* Turns a copy or fill of a few bytes into an assignment. */
static bool assign_instead(gcall *call, built_in_function code) {
  const bool copies = code == BUILT_IN_MEMCPY;
  if (!copies && !(code == BUILT_IN_MEMSET && integer_zerop(argument(call, 1)))) return false;
  tree size = argument(call, 2), to = argument(call, 0);
  if (!tree_fits_uhwi_p(size) || !tree_to_uhwi(size) || tree_to_uhwi(size) > small) return false;
  if (stmt_can_throw_internal(cfun, call)) return false;
  tree target = bytes_at(to, tree_to_uhwi(size));
  tree value = copies ? bytes_at(argument(call, 1), tree_to_uhwi(size))
                      : build_constructor(TREE_TYPE(target), NULL);
  if (tree result = gimple_call_lhs(call)) {
    gimple_stmt_iterator at = gsi_for_stmt(call);
    gsi_insert_after(&at, gimple_build_assign(result, to), GSI_SAME_STMT);
    gimple_call_set_lhs(call, NULL_TREE);
  }
  replace(call, gimple_build_assign(target, value));
  return true;
}

static bool is_defined_here(tree function) {
  cgraph_node *node = cgraph_node::get(function);
  return node && node->definition;
}

static void keep_libc_call(gcall *call) {
  tree function = gimple_call_fndecl(call);
  if (!function || !fndecl_built_in_p(function, BUILT_IN_NORMAL) || is_defined_here(function)) return;
  for (const auto &known : expandable) {
    if (known.code != DECL_FUNCTION_CODE(function)) continue;
    if (gimple_call_num_args(call) < known.arguments || assign_instead(call, known.code)) return;
    gcall *kept = as_a<gcall *>(gimple_copy(call));
    gimple_call_set_fndecl(kept, plain_declaration(known.name, TREE_TYPE(function)));
    gimple_set_num_ops(kept, 3 + known.arguments);
    gimple_call_set_lhs(kept, gimple_call_lhs(call));
    replace(call, kept);
    return;
  }
}

/* Above some size, copies of aggregates become calls of memcpy. This makes all of them be checked
 * in the same way, once. */
static void keep_large_copy(gimple *copy) {
  tree to = gimple_assign_lhs(copy), from = gimple_assign_rhs1(copy);
  const bool clears = TREE_CODE(from) == CONSTRUCTOR;
  const HOST_WIDE_INT size = int_size_in_bytes(TREE_TYPE(to));
  if (size <= small || TYPE_MODE(TREE_TYPE(to)) != BLKmode || gimple_clobber_p(copy)) return;
  if (CONSTANT_CLASS_P(from) || stmt_can_throw_internal(cfun, copy)) return;
  auto_vec<memory_access> found;
  find_accesses(copy, found, found);
  if (found.is_empty()) return;
  auto address = [&](tree reference) {
    mark_addressable(reference);
    check_point point(copy);
    return point.value(build_fold_addr_expr(unshare_expr(reference)));
  };
  tree bytes = build_int_cst(size_type_node, size), target = address(to);
  replace(copy, clears ? gimple_build_call(hook_declaration(CLEAR), 2, target, bytes)
                       : gimple_build_call(hook_declaration(COPY), 3, target, address(from), bytes));
}

void keep_call(gimple *statement) {
  if (gcall *call = dyn_cast<gcall *>(statement)) keep_libc_call(call);
  else if (gimple_assign_single_p(statement)) keep_large_copy(statement);
}

void share_copies(gimple *statement) {
  gcall *call = dyn_cast<gcall *>(statement);
  tree function = call ? gimple_call_fndecl(call) : NULL_TREE;
  if (!function || gimple_call_num_args(call) < 3) return;
  const char *name = IDENTIFIER_POINTER(DECL_NAME(function));
  const bool copies = !strcmp(name, "memcpy") || !strcmp(name, "memmove");
  if (!copies && strcmp(name, "memset")) return;
  for (unsigned buffer = 0; buffer <= copies; buffer++) {
    check_point point(statement);
    point.call(hook_declaration(SHARE), {argument(call, buffer), argument(call, 2)});
  }
}

bool is_math(gcall *call) {
#if BUILDING_GCC_MAJOR >= 11
  return mathfn_built_in_type(gimple_call_combined_fn(call)) != NULL_TREE;
#else
  return false;
#endif
}

/* Internal functions mostly compute; these order threads, or start regions of code. */
static bool is_synchronising(internal_fn function) {
  const char *name = internal_fn_name(function);
  for (const char *start : {"ATOMIC_", "GOACC_", "GOMP_", "UNIQUE", "TSAN_"})
    if (starts_with(name, start)) return true;
  return false;
}

bool is_barrier(gimple *statement) {
  if (gimple_clobber_p(statement)) return false;
  if (gimple_has_volatile_ops(statement)) return true;
  if (gasm *assembly = dyn_cast<gasm *>(statement))
    return gimple_asm_volatile_p(assembly) || gimple_asm_clobbers_memory_p(assembly);
  gcall *call = dyn_cast<gcall *>(statement);
  if (call && gimple_call_internal_p(call))
    return is_synchronising(gimple_call_internal_fn(call));
  return call && !(gimple_call_flags(call) & (ECF_CONST | ECF_PURE)) && !is_math(call);
}
