/* Functions that clang calls for its memory intrinsics. They jump to the libc function, whose
 * wrapper performs the check and still sees the instrumented caller's return address. */
#include "hooks.h"

#include <string.h>

HOOK void *__tsan_memcpy(void *to, const void *from, size_t n) { return memcpy(to, from, n); }
HOOK void *__tsan_memmove(void *to, const void *from, size_t n) { return memmove(to, from, n); }
HOOK void *__tsan_memset(void *to, int byte, size_t n) { return memset(to, byte, n); }
