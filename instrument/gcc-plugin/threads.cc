/* Thread instrumentation: where MPI is called concurrently, and how threads synchronise.
 *
 * Only in a parallel region that calls MPI can an access by one thread be concurrent with an
 * operation of another. If a unit has such a region, the accesses of its regions and tasks, and of
 * functions of the unit that these call, are recorded: each access, or loop, marks its pages for
 * this. Threads of POSIX, C11 and C++ run concurrently with whatever their creator does: if a unit
 * creates such threads and calls MPI, all its accesses are recorded. Other threads cost nothing.
 */
#include "plugin.h"

#include "../hooks/commsan_abi.h"
#include "bversion.h"
#include "memmodel.h"

/* Functions that regions and tasks consist of, or call. */
static hash_set<tree> sharing;
/* Set if the accesses of all functions are recorded. */
static bool all_share;

bool is_outlined(tree function) {
  return strstr(IDENTIFIER_POINTER(DECL_NAME(function)), "_omp_fn") != NULL;
}

static bool is_mpi(tree function) {
  const char *name = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(function));
  return starts_with(name, "MPI_") || starts_with(name, "PMPI_") || starts_with(name, "mpi_");
}

/* Whether the function creates threads that only the program's own synchronisation joins; of
 * std::thread, the library's part. */
static bool makes_threads(tree function) {
  const char *name = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(function));
  return !strcmp(name, "pthread_create") || !strcmp(name, "thrd_create") ||
         starts_with(name, "_ZNSt6thread15_M_start_thread");
}

static bool unit_calls(bool (*is_wanted)(tree)) {
  cgraph_node *node;
  FOR_EACH_FUNCTION(node)
  if (node->callers && is_wanted(node->decl)) return true;
  return false;
}

static bool reaches_mpi(cgraph_node *node, hash_set<cgraph_node *> &seen) {
  if (seen.add(node)) return false;
  for (cgraph_edge *call = node->callees; call; call = call->next_callee) {
    cgraph_node *callee = call->callee->ultimate_alias_target();
    if (is_mpi(callee->decl) || reaches_mpi(callee, seen)) return true;
  }
  return false;
}

static void add_sharing(cgraph_node *node) {
  if (!node->definition || sharing.add(node->decl)) return;
  for (cgraph_edge *call = node->callees; call; call = call->next_callee)
    add_sharing(call->callee->ultimate_alias_target());
}

void find_sharing(void *, void *) {
  all_share = unit_calls(makes_threads) && unit_calls(is_mpi);
  if (all_share) return;
  cgraph_node *node;
  bool unit_shares = false;
  FOR_EACH_DEFINED_FUNCTION(node) {
    hash_set<cgraph_node *> seen;
    if (!unit_shares && is_outlined(node->decl)) unit_shares = reaches_mpi(node, seen);
  }
  if (!unit_shares) return;
  FOR_EACH_DEFINED_FUNCTION(node)
  if (is_outlined(node->decl)) add_sharing(node);
}

bool shares_memory(tree function) { return all_share || sharing.contains(function); }

/* The memory of a synchronisation, and its kinds before and after; null memory is a fence. */
struct synchronisation {
  tree pointer;
  int before, after;
};

static int memory_order(gcall *call, unsigned i) {
  tree order = i < gimple_call_num_args(call) ? gimple_call_arg(call, i) : NULL_TREE;
  if (!order || !tree_fits_uhwi_p(order)) return MEMMODEL_SEQ_CST;
  return memmodel_base(tree_to_uhwi(order));
}

/* Adjusts the kinds of a read-modify-write to a memory order. */
static void respect(unsigned order, synchronisation &found) {
  switch (order) {
  case MEMMODEL_RELAXED: found.before = COMMSAN_ATOMIC, found.after = 0; break;
  case MEMMODEL_RELEASE: found.after = 0; break;
  case MEMMODEL_ACQUIRE:
  case MEMMODEL_CONSUME: found.before = 0; break;
  default: break;
  }
}

/* Internal functions that replace calls whose result is only tested (tree-ssa-ccp.cc). That of
 * __sync has its address in place of the order. */
static bool describe_internal(gcall *call, synchronisation &found) {
  unsigned pointer = 0, order = 3;
  switch (gimple_call_internal_fn(call)) {
  case IFN_ATOMIC_BIT_TEST_AND_SET:
  case IFN_ATOMIC_BIT_TEST_AND_COMPLEMENT:
  case IFN_ATOMIC_BIT_TEST_AND_RESET: break;
  case IFN_ATOMIC_COMPARE_EXCHANGE: order = 4; break;
#if BUILDING_GCC_MAJOR >= 12
  case IFN_ATOMIC_ADD_FETCH_CMP_0:
  case IFN_ATOMIC_SUB_FETCH_CMP_0:
  case IFN_ATOMIC_AND_FETCH_CMP_0:
  case IFN_ATOMIC_OR_FETCH_CMP_0:
  case IFN_ATOMIC_XOR_FETCH_CMP_0: pointer = 1; break;
#endif
  default: return false;
  }
  found.pointer = gimple_call_arg(call, pointer);
  respect(memory_order(call, order), found);
  return true;
}

static bool describe(gcall *call, synchronisation &found) {
  found = {NULL_TREE, COMMSAN_RELEASE, COMMSAN_ACQUIRE};
  if (gimple_call_internal_p(call)) return describe_internal(call, found);
  tree function = gimple_call_fndecl(call);
  if (!function || !fndecl_built_in_p(function, BUILT_IN_NORMAL)) return false;
  const char *name = IDENTIFIER_POINTER(DECL_NAME(function));
  const bool old = starts_with(name, "__sync_");
  if (!old && !starts_with(name, "__atomic_")) return false;
  if (!strcmp(name, "__sync_synchronize") || starts_with(name, "__atomic_thread_fence")) {
    found = {null_pointer_node, COMMSAN_ACQUIRE | COMMSAN_RELEASE, 0};
    return old || memory_order(call, 0) != MEMMODEL_RELAXED;
  }
  if (!gimple_call_num_args(call) || !POINTER_TYPE_P(TREE_TYPE(gimple_call_arg(call, 0))))
    return false;
  found.pointer = gimple_call_arg(call, 0);
  if (old) return true;
  const bool loads = starts_with(name, "__atomic_load") || !strcmp(name, "__atomic_test_and_set");
  const bool exchanges = starts_with(name, "__atomic_compare_exchange");
  const unsigned at = loads || !strcmp(name, "__atomic_clear") ? 1 : exchanges ? 4 : 2;
  const unsigned order = memory_order(call, at);
  respect(order, found);
  if (order == MEMMODEL_RELAXED) return true;
  if (starts_with(name, "__atomic_load")) found.before = 0;
  if (starts_with(name, "__atomic_store") || !strcmp(name, "__atomic_clear")) found.after = 0;
  return true;
}

static bool describe(gimple *statement, synchronisation &found) {
  if (gcall *call = dyn_cast<gcall *>(statement)) return describe(call, found);
  if (!gimple_assign_single_p(statement) || !gimple_store_p(statement)) return false;
  tree target = gimple_assign_lhs(statement);
  if (!TREE_THIS_VOLATILE(target) || gimple_clobber_p(statement)) return false;
  found = {null_pointer_node, COMMSAN_BROADCAST, 0};
  /* Memory other than a variable of this process may be shared with other processes. */
  const bool is_field = TREE_CODE(target) == COMPONENT_REF && DECL_BIT_FIELD(TREE_OPERAND(target, 1));
  if (!DECL_P(get_base_address(target)) && !is_field && TREE_CODE(target) != BIT_FIELD_REF)
    found.pointer = build_fold_addr_expr(unshare_expr(target));
  return true;
}

static void tell(check_point point, tree pointer, int kind) {
  tree parallel = header_field(offsetof(commsan_abi, parallel));
  check_point several = point.if_rarely(point.load(long_unsigned_type_node, parallel));
  several.call(hook_declaration(SYNCHRONISE),
               {fold_convert(ptr_type_node, pointer), build_int_cst(integer_type_node, kind)});
}

static void tell_after(gimple *statement, tree pointer, int kind) {
  check_point after(statement);
  if (!stmt_ends_bb_p(statement)) {
    gsi_next(&after.at);
  } else {
    edge returns = find_fallthru_edge(gimple_bb(statement)->succs);
    if (!returns) return;
    after = check_point(returns, gimple_location(statement));
  }
  tell(after, pointer, kind);
}

void tell_synchronisation(function *f) {
  auto_vec<gimple *> statements;
  basic_block block;
  FOR_EACH_BB_FN(block, f)
  for (gimple_stmt_iterator i = gsi_start_bb(block); !gsi_end_p(i); gsi_next(&i))
    statements.safe_push(gsi_stmt(i));
  for (gimple *statement : statements) {
    synchronisation found;
    if (!describe(statement, found)) continue;
    if (found.before) tell(check_point(statement), found.pointer, found.before);
    if (found.after) tell_after(statement, found.pointer, found.after);
  }
}
