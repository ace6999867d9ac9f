/* ThreadSanitizer's entry points for information that commsan does not use: which accesses to
 * ignore, user-defined locks, fibers. Programs that call them must still link and run. */
#include "hooks.h"

#define NOTHING(name, ...)                                                                         \
  HOOK void name(__VA_ARGS__);                                                                     \
  void name(__VA_ARGS__) {}

#pragma GCC diagnostic ignored "-Wunused-parameter"

NOTHING(__tsan_ignore_thread_begin, void)
NOTHING(__tsan_ignore_thread_end, void)
NOTHING(__tsan_acquire, void *p)
NOTHING(__tsan_release, void *p)
NOTHING(__tsan_mutex_create, void *p, unsigned flags)
NOTHING(__tsan_mutex_destroy, void *p, unsigned flags)
NOTHING(__tsan_mutex_pre_lock, void *p, unsigned flags)
NOTHING(__tsan_mutex_post_lock, void *p, unsigned flags, int recursion)
NOTHING(__tsan_mutex_pre_signal, void *p, unsigned flags)
NOTHING(__tsan_mutex_post_signal, void *p, unsigned flags)
NOTHING(__tsan_mutex_pre_divert, void *p, unsigned flags)
NOTHING(__tsan_mutex_post_divert, void *p, unsigned flags)
NOTHING(__tsan_mutex_post_unlock, void *p, unsigned flags)
NOTHING(__tsan_destroy_fiber, void *fiber)
NOTHING(__tsan_switch_to_fiber, void *fiber, unsigned flags)
NOTHING(__tsan_set_fiber_name, void *fiber, const char *name)

HOOK int __tsan_mutex_pre_unlock(void *p, unsigned flags) { return 1; }

/* Any non-null value suffices, since it is never dereferenced. */
static char a_fiber;
HOOK void *__tsan_get_current_fiber(void) { return &a_fiber; }
HOOK void *__tsan_create_fiber(unsigned flags) { return &a_fiber; }
