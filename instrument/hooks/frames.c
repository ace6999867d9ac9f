/* Function entry and exit.
 *
 * Entering matters once: ifunc resolvers (target_clones) are instrumented, too, and run before any
 * constructor, so the first function entered maps the filter.
 *
 * Leaving is checked: a function may return while an operation still uses its stack buffer. The
 * wrapper compiles with frame pointers and without sibling calls, so both compilers call the exit
 * hook before the epilogue and rbp still is the frame of the function that returns.
 */
#include "hooks.h"

#include <errno.h>

HOOK void __tsan_func_entry(void *pc) {
  (void)pc;
  if (__builtin_expect(!commsan_is_mapped, 0)) commsan_map();
}

static __attribute__((noinline, cold)) void leave(const void *pc, const void *frame) {
  if (commsan_disagrees) return;
  int error = errno;
  COMMSAN_ABI->leave(pc, frame);
  errno = error;
}

HOOK void __tsan_func_exit(void) {
  if (__builtin_expect(COMMSAN_ABI->stack_live != 0, 0)) leave(CALLER_PC, caller_frame);
}
