/* What the files of the gcc plugin share.
 *
 * The plugin puts commsan's check in front of memory accesses. It works on GIMPLE as late as can
 * be: the code has been inlined, vectorised and folded as it would be without commsan, and what
 * is an access now is one in the program that runs.
 */
#ifndef COMMSAN_PLUGIN_H
#define COMMSAN_PLUGIN_H

#include "gcc-plugin.h"

#include "backend.h"
#include "rtl.h"
#include "tree.h"
#include "gimple.h"
#include "tree-pass.h"
#include "ssa.h"
#include "cgraph.h"
#include "fold-const.h"
#include "gimple-iterator.h"
#include "gimplify.h"
#include "gimplify-me.h"
#include "stringpool.h"
#include "tree-cfg.h"
#include "tree-eh.h"
#include "cfgloop.h"
#include "attribs.h"
#include "langhooks.h"
#include "internal-fn.h"

#include <initializer_list>

/* Memory that a statement touches. */
struct memory_access {
  gimple *statement;
  bool write;
  /* The address is `origin`, an expression that is no statement yet, plus `offset`. */
  tree origin;
  HOST_WIDE_INT offset;
  /* In bytes; 0 if only known when the program runs, as `variable_size`. */
  HOST_WIDE_INT size;
  tree variable_size;
  /* What the address is known to be a multiple of. */
  unsigned alignment;

  HOST_WIDE_INT end() const { return offset + size; }
};

/* access.cc: loads and stores that are part of a statement. A call stores its result `after` it
 * has run. */
void find_accesses(gimple *statement, vec<memory_access> &before, vec<memory_access> &after);
memory_access access_through(tree pointer, HOST_WIDE_INT size, bool write, gimple *statement);
/* Replaces a pointer by how it is computed. */
void look_through_pointer(memory_access &a);
/* The function has variables whose address others may know. */
bool has_public_variables(function *f);

/* calls.cc: calls of functions that the compiler knows. */
void find_known_accesses(gcall *call, vec<memory_access> &found);
/* Makes it a call that code generation leaves alone, so that the wrapper of the libc function sees
 * it; or, of a large aggregate copy, a call that checks and copies. */
void keep_call(gimple *statement);
/* Has the memory noted that a copy or fill by libc uses. */
void share_copies(gimple *statement);
/* An operation may start or end there, or another thread be waited for. */
bool is_barrier(gimple *statement);

/* lanes.cc: masked and gathered accesses; false if it is none. */
bool check_lanes(gcall *call);
/* All lanes of a masked access, active or not; false if it is none. */
bool find_masked_span(gcall *call, vec<memory_access> &found);

/* check.cc: the line of a statement, or else of what it is for. */
location_t place_of(gimple *statement);
/* The check in front of a statement. */
struct check_point {
  gimple_stmt_iterator at;
  location_t where;
  /* If set, it collects what the check itself loads. */
  hash_set<gimple *> *loads = NULL;

  explicit check_point(gimple *before);
  explicit check_point(edge on, location_t where);

  /* The operands of GIMPLE statements that compute `expression`. */
  tree value(tree expression);
  tree load(tree type, tree address);
  /* What follows runs when the condition does not hold, too; the block that only runs when it does
   * is hardly ever entered. */
  check_point if_rarely(tree value_not_zero);
  /* Its result, if it has one. */
  tree call(tree function, std::initializer_list<tree> arguments);
};
/* A 64-bit field of the header that hooks and runtime share. */
tree header_field(HOST_WIDE_INT offset);
/* Not zero if the page of the first or of the last byte of a range concerns a read, or a write. */
tree filter_hit(check_point &point, tree first, tree last, bool write);
/* `group`: reads, or writes, with the same origin. */
void check(check_point point, const vec<memory_access> &group);
/* For the next function. */
void forget_filter_base();

/* frames.cc: what is to be done when a function is entered and left; nothing if it is excluded. */
void check_frame(function *f, bool excluded);
/* For C++ functions as the front end leaves them, so that exceptions are seen leaving. */
void mark_exceptional_exit(void *declaration, void *);

/* threads.cc: whether accesses of a function are to be noted, since OpenMP runs it, or what
 * calls it, in several threads and one of them may call MPI meanwhile. */
bool shares_memory(tree function);
/* Looks at the unit as it is before functions are compiled. */
void find_sharing(void *, void *);
/* Reports atomic operations, fences and writes to volatile variables. */
void tell_synchronisation(function *f);

/* loops.cc: `unchecked` are statements that need no check, in copies of loops that only run while
 * none of their accesses can concern an operation. */
void free_loops_of_checks(function *f, hash_set<gimple *> &unchecked);

/* hooks.cc: functions of the hooks archive. */
enum hook {
  READ,
  WRITE,
  READ_RANGE,
  WRITE_RANGE,
  LANES,
  COPY,
  CLEAR,
  ENTRY,
  EXIT,
  RANGE_CLEAR,
  READ_SWEEP,
  WRITE_SWEEP,
  EXIT_MARK, /* like EXIT, as mark_exceptional_exit leaves it */
  SHARE,
  SYNCHRONISE,
  HOOKS
};
tree hook_declaration(hook);
/* A function that the compiler takes for one of the program, whatever its name. */
tree plain_declaration(const char *name, tree type);
void set_up_hooks();

#endif
