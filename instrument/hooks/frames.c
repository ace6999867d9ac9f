/* Function entry and exit.
 *
 * The entry hook matters only once: ifunc resolvers (target_clones) are instrumented, too, and run
 * before any constructor, so the first function that is entered maps the filter.
 *
 * The exit hook checks whether an operation still uses the stack of the returning function. The
 * wrapper enables frame pointers and disables sibling calls, so both compilers call the exit hook
 * before the epilogue, while rbp is still the frame of the returning function.
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
