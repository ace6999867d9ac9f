/* Calls of MPI's Fortran procedures without the argument for the error code: `mpif.h` has no
 * interfaces by which the compiler could object. They are reported and get a variable, for the
 * library stores the code wherever the register or the stack happens to point. */
#include "plugin.h"

#include "../hooks/fortran_calls.h"
#include "langhooks.h"

/* The procedure that a statement calls, if `ierror` is missing. */
static const char *called_without_ierror(gimple *statement) {
  gcall *call = dyn_cast<gcall *>(statement);
  tree function = call ? gimple_call_fndecl(call) : NULL_TREE;
  if (!function || !DECL_EXTERNAL(function) || fndecl_built_in_p(function)) return NULL;
  const char *name = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(function));
  return commsan_lacks_ierror(name, gimple_call_num_args(call)) ? name : NULL;
}

/* The same call with one argument more. */
static void complete(gcall *call) {
  auto_vec<tree> arguments;
  for (unsigned i = 0; i < gimple_call_num_args(call); i++)
    arguments.safe_push(gimple_call_arg(call, i));
  arguments.safe_push(build_fold_addr_expr(hook_error_code()));
  gcall *complete = gimple_build_call_vec(gimple_call_fn(call), arguments);
  gimple_call_set_fntype(complete, gimple_call_fntype(call));
  gimple_call_set_lhs(complete, gimple_call_lhs(call));
  gimple_set_location(complete, gimple_location(call));
  gimple_move_vops(complete, call);
  gimple_stmt_iterator at = gsi_for_stmt(call);
  gsi_replace(&at, complete, true);
}

void tell_missing_ierror(function *f) {
  /* With link-time optimization the language is not known any more. */
  if (starts_with(lang_hooks.name, "GNU C")) return;
  auto_vec<gimple *> statements;
  basic_block block;
  FOR_EACH_BB_FN(block, f)
  for (gimple_stmt_iterator i = gsi_start_bb(block); !gsi_end_p(i); gsi_next(&i))
    if (called_without_ierror(gsi_stmt(i))) statements.safe_push(gsi_stmt(i));
  for (gimple *statement : statements) {
    const char *name = called_without_ierror(statement);
    tree text = build_string_literal(strlen(name) + 1, name);
    check_point(statement).call(hook_declaration(MISSING_IERROR), {fold_convert(ptr_type_node, text)});
    complete(as_a<gcall *>(statement));
  }
}
