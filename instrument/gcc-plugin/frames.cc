/* Function entry and exit.
 *
 * Before a function returns from which the address of a variable escaped, it calls a hook if
 * operations use any stack memory. The hook determines whose frame that is. The same applies to
 * exits by exceptions.
 */
#include "plugin.h"

#include "../hooks/commsan_abi.h"

/* Whether the loader calls the function before any constructor, so before the filter is mapped. */
static bool runs_early(tree declaration) {
  static const char *const allocators[] = {"malloc",         "calloc",   "realloc",       "free",
                                           "posix_memalign", "memalign", "aligned_alloc"};
  const char *name = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(declaration));
  for (const char *allocator : allocators)
    if (!strcmp(name, allocator)) return true;
  ipa_ref *reference;
  cgraph_node *node = cgraph_node::get(declaration);
  for (unsigned i = 0; node && node->iterate_direct_aliases(i, reference); i++) {
    cgraph_node *alias = dyn_cast<cgraph_node *>(reference->referring);
    if (alias && (alias->ifunc_resolver || lookup_attribute("ifunc", DECL_ATTRIBUTES(alias->decl))))
      return true;
  }
  return false;
}

static void check_exit(gimple *leaving) {
  check_point point(leaving);
  tree stack_live = header_field(offsetof(commsan_abi, stack_live));
  check_point rare = point.if_rarely(point.load(long_unsigned_type_node, stack_live));
  rare.call(hook_declaration(EXIT), {});
}

/* Whether this is a call that mark_exceptional_exit has inserted. */
static bool is_exit_mark(gimple *statement) {
  tree function = is_gimple_call(statement) ? gimple_call_fndecl(statement) : NULL_TREE;
  return function && TREE_READONLY(function) && DECL_ARTIFICIAL(function) &&
         DECL_NAME(function) == DECL_NAME(hook_declaration(EXIT_MARK));
}

/* Whether the statement is part of an inlined function, which has no frame. */
static bool is_inlined(gimple *statement) {
  for (tree b = gimple_block(statement); b && TREE_CODE(b) == BLOCK; b = BLOCK_SUPERCONTEXT(b))
    if (inlined_function_outer_scope_p(b)) return true;
  return false;
}

void check_frame(function *f, bool excluded) {
  auto_vec<gimple *> returns, marks;
  basic_block block;
  FOR_EACH_BB_FN(block, f) {
    for (gimple_stmt_iterator i = gsi_start_bb(block); !gsi_end_p(i); gsi_next(&i)) {
      if (is_exit_mark(gsi_stmt(i))) marks.safe_push(gsi_stmt(i));
      if (gimple_code(gsi_stmt(i)) == GIMPLE_RETURN) returns.safe_push(gsi_stmt(i));
    }
  }
  if (!excluded && has_public_variables(f)) {
    for (gimple *leaving : returns) check_exit(leaving);
    for (gimple *leaving : marks)
      if (!is_inlined(leaving)) check_exit(leaving);
  }
  for (gimple *mark : marks) {
    gimple_stmt_iterator i = gsi_for_stmt(mark);
    gsi_remove(&i, true);
  }
  if (!excluded && runs_early(f->decl)) {
    check_point entry(single_succ_edge(ENTRY_BLOCK_PTR_FOR_FN(f)), f->function_start_locus);
    entry.call(hook_declaration(ENTRY), {null_pointer_node});
  }
}

/* Finds a variable whose address may escape. */
static tree find_public(tree *at, int *, void *) {
  if (TREE_CODE(*at) != BIND_EXPR) return NULL_TREE;
  for (tree variable = BIND_EXPR_VARS(*at); variable; variable = DECL_CHAIN(variable))
    if (VAR_P(variable) && !TREE_STATIC(variable) && !DECL_EXTERNAL(variable) &&
        (TREE_ADDRESSABLE(variable) || DECL_HAS_VALUE_EXPR_P(variable)))
      return variable;
  return NULL_TREE;
}

void mark_exceptional_exit(void *declaration, void *) {
  tree function = (tree)declaration, body = DECL_SAVED_TREE(function);
  if (!flag_exceptions || strncmp(lang_hooks.name, "GNU C++", 7) || !body) return;
  if (!walk_tree_without_duplicates(&body, find_public, NULL)) return;
  location_t where = DECL_SOURCE_LOCATION(function);
  tree mark = build_call_expr_loc(where, hook_declaration(EXIT_MARK), 0);
  DECL_SAVED_TREE(function) = build2(TRY_CATCH_EXPR, void_type_node, body, mark);
}
