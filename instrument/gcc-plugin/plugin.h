/* Declarations shared by the files of the gcc plugin.
 *
 * The plugin inserts commsan's checks in front of memory accesses. It works on GIMPLE as late as
 * possible: the code has been inlined, vectorized and folded as it would be without commsan, so
 * each access is one that the program performs.
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

static inline bool starts_with(const char *text, const char *start) {
  return !strncmp(text, start, strlen(start));
}

/* A memory access by a statement. */
struct memory_access {
  gimple *statement;
  bool write;
  /* The address is `origin`, an expression without a statement yet, plus `offset`. */
  tree origin;
  HOST_WIDE_INT offset;
  /* Size in bytes; 0 if it is only known at run time, in `variable_size`. */
  HOST_WIDE_INT size;
  tree variable_size;
  /* A known divisor of the address. */
  unsigned alignment;

  HOST_WIDE_INT end() const { return offset + size; }
};

/* access.cc: loads and stores that are part of a statement. A call stores its result `after` it
 * returns. */
void find_accesses(gimple *statement, vec<memory_access> &before, vec<memory_access> &after);
memory_access access_through(tree pointer, HOST_WIDE_INT size, bool write, gimple *statement);
/* The variable part of a base's address; adds the constant part to `offset`. */
tree variable_address(tree base, HOST_WIDE_INT *offset);
/* Replaces a pointer by the expression that computes it. */
void look_through_pointer(memory_access &a);
/* Whether the function has variables whose address may escape. */
bool has_public_variables(function *f);

/* calls.cc: accesses of functions that the compiler knows. */
void find_known_accesses(gcall *call, vec<memory_access> &found);
/* Turns a statement into a call that code generation does not expand, so that the libc function's
 * wrapper checks it; or, for a large aggregate copy, into a call that checks and copies. */
void keep_call(gimple *statement);
/* Marks the memory that a libc copy or fill accesses, so that accesses to it are recorded. */
void share_copies(gimple *statement);
/* How many accesses of a statement are checked. */
unsigned count_accesses(gimple *statement);
/* Whether the call's only side effect can be to set errno. */
bool is_math(gcall *call);
/* Whether an operation may start or end there, or the statement may wait for another thread. */
bool is_barrier(gimple *statement);

/* lanes.cc: checks a masked or gathered access; returns false if it is none. */
bool check_lanes(gcall *call);
/* Finds all lanes of a masked access, active or not; returns false if it is none. */
bool find_masked_span(gcall *call, vec<memory_access> &found);
/* Finds the pointer that the lanes of a gathered or scattered access are relative to. */
bool find_gathered(gcall *call, tree *pointer, bool *write);

/* check.cc: the line of a statement, or else of one that uses its result. */
location_t place_of(gimple *statement);
/* Inserts the check in front of a statement. */
struct check_point {
  gimple_stmt_iterator at;
  location_t where;
  /* If set, it collects the loads of the check itself. */
  hash_set<gimple *> *loads = NULL;

  explicit check_point(gimple *before);
  explicit check_point(edge on, location_t where);

  /* Inserts GIMPLE statements that compute `expression`; returns their result. */
  tree value(tree expression);
  tree load(tree type, tree address);
  /* Splits the block. Returns a check point in a new, unlikely block, entered if the value is not
   * zero; this check point continues behind it. */
  check_point if_rarely(tree value_not_zero);
  /* Inserts a call; returns its result, if it has one. */
  tree call(tree function, std::initializer_list<tree> arguments);
};
/* `value` if the rare block `inside` ran, otherwise 1; `after` continues behind it. */
tree value_or_one(check_point &after, check_point &inside, tree value);
/* The address of a 64-bit field of the header that hooks and runtime share. */
tree header_field(HOST_WIDE_INT offset);
/* Non-zero if the page of the first or last byte of a range concerns a read, or a write. */
tree filter_hit(check_point &point, tree first, tree last, bool write);
/* Inserts a check; `group` is reads, or writes, with the same origin. */
void check(check_point point, const vec<memory_access> &group);
/* Forgets the register of the filter's address before the next function. */
void forget_filter_base();

/* frames.cc: inserts the checks at entry and exit of a function; none if it is excluded. */
void check_frame(function *f, bool excluded);
/* Marks exceptional exits in C++ functions, as the front end generates them. */
void mark_exceptional_exit(void *declaration, void *);

/* threads.cc: whether accesses of a function are recorded, since OpenMP runs it, or a caller, in
 * several threads, one of which may call MPI meanwhile. */
bool shares_memory(tree function);
/* Whether the function is an outlined OpenMP region or task. */
bool is_outlined(tree function);
/* Analyses the unit before its functions are compiled. */
void find_sharing(void *, void *);
/* Inserts reports of atomic operations, fences and writes to volatile variables. */
void tell_synchronisation(function *f);
/* Marks calls of MPI's Fortran procedures without the argument for the error code. */
void tell_missing_ierror(function *f);

/* lines.cc: a pass over the graph of blocks that gives Fortran's calls their lines. */
opt_pass *make_lines_pass();

/* calm.cc: `unchecked` are statements that need no check, in functions and loops that exist twice
 * and only run so while nothing is pending or exposed. */
void free_calm_regions(function *f, hash_set<gimple *> &unchecked);
/* Analyses the unit before its functions are compiled. */
void find_calm(void *, void *);

/* reach.cc: bytes from `low + begin` up to `high + end`. */
struct reach_span {
  tree low, high;
  HOST_WIDE_INT begin, end;
  bool write;
};
/* The object that a pointer leads to. */
struct reach_object {
  tree pointer;
  bool write;
};
/* All memory that a loop may access. */
struct reach {
  auto_vec<reach_span> spans;
  auto_vec<reach_object> objects;
  /* Whether it has all of a structure, or of a COMMON block, for want of better knowledge. */
  bool is_vague = false;
};
/* Needs scalar evolution; false if some of it is not known before the loop is entered. */
bool find_reach(class loop *l, reach &found);
/* Inserts a question about all of it; returns `clear` if nothing there is pending or exposed,
 * otherwise 0. */
tree is_clear(check_point &point, const reach &r, tree clear);

/* loops.cc: whether `free_loops_of_checks` will free all accesses of an innermost loop. */
bool has_known_addresses(class loop *l);
/* `unchecked` are statements that need no check, in copies of loops that only run while
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
  SPAN_CLEAR,
  OBJECT_CLEAR,
  POINTEE,
  READ_SWEEP,
  WRITE_SWEEP,
  EXIT_MARK, /* like EXIT, inserted by mark_exceptional_exit */
  SHARE,
  SYNCHRONISE,
  MISSING_IERROR,
  HOOKS
};
tree hook_declaration(hook);
/* A variable for error codes that nobody asks for. */
tree hook_error_code();
/* Declares a function that the compiler treats as an ordinary one, whatever its name. */
tree plain_declaration(const char *name, tree type);
void set_up_hooks();

#endif
