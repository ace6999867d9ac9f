/* mem* and bcopy families: sizes are arguments. */
#define _GNU_SOURCE
#include "wrap.h"

#include <wchar.h>

/* Small copies are frequent: while nothing is pending, these wrappers are a test and a jump. The
 * checks are in a separate function that is entered by a jump, too, so that no registers need
 * saving and its return address is still the caller's. */
#define FREQUENT(name, parameters, arguments, checks)                                              \
  void *__real_##name parameters;                                                                  \
  void *__wrap_##name parameters;                                                                  \
  static __attribute__((noinline)) void *watched_##name parameters {                               \
    const bool on = commsan_is_libc((const void *)__real_##name);                                  \
    const char *const by = #name;                                                                  \
    checks;                                                                                        \
    return __real_##name arguments;                                                                \
  }                                                                                                \
  void *__wrap_##name parameters {                                                                 \
    return COMMSAN_ABI->live ? watched_##name arguments : __real_##name arguments;                 \
  }

#define COPY(name)                                                                                 \
  FREQUENT(name, (void *to, const void *from, size_t n), (to, from, n), {                          \
    READS(from, n);                                                                                \
    WRITES(to, n);                                                                                 \
  })                                                                                               \
  WRAP(void *, __##name##_chk, #name, (void *to, const void *from, size_t n, size_t room), {       \
    READS(from, n);                                                                                \
    WRITES(to, n);                                                                                 \
    return __real___##name##_chk(to, from, n, room);                                               \
  })

COPY(memcpy)
COPY(memmove)
COPY(mempcpy)

FREQUENT(memset, (void *to, int byte, size_t n), (to, byte, n), WRITES(to, n))

WRAP(void *, __memset_chk, "memset", (void *to, int byte, size_t n, size_t room), {
  WRITES(to, n);
  return __real___memset_chk(to, byte, n, room);
})

/* Reported as an access under that name; the runtime treats it as a release. Some communication
 * libraries (UCX) interpose munmap for the whole process, so the module that defines it does not
 * matter. */
WRAP_OTHER(int, munmap, "munmap", (void *start, size_t size), {
  WRITES(start, size);
  return __real_munmap(start, size);
})

WRAP(void, bcopy, "bcopy", (const void *from, void *to, size_t n), {
  READS(from, n);
  WRITES(to, n);
  __real_bcopy(from, to, n);
})

WRAP(void, bzero, "bzero", (void *to, size_t n), {
  WRITES(to, n);
  __real_bzero(to, n);
})

WRAP(void, explicit_bzero, "explicit_bzero", (void *to, size_t n), {
  WRITES(to, n);
  __real_explicit_bzero(to, n);
})

WRAP(void, __explicit_bzero_chk, "explicit_bzero", (void *to, size_t n, size_t room), {
  WRITES(to, n);
  __real___explicit_bzero_chk(to, n, room);
})

/* A comparison need not read beyond the first difference. */
static size_t compared(const unsigned char *a, const unsigned char *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (a[i] != b[i]) return i + 1;
  return n;
}

#define COMPARE(name)                                                                              \
  WRAP(int, name, #name, (const void *a, const void *b, size_t n), {                               \
    if (on) {                                                                                      \
      size_t size = compared(a, b, n);                                                             \
      READS(a, size);                                                                              \
      READS(b, size);                                                                              \
    }                                                                                              \
    return __real_##name(a, b, n);                                                                 \
  })

COMPARE(memcmp)
COMPARE(bcmp)

WRAP(void *, memchr, "memchr", (const void *s, int c, size_t n), {
  char *found = __real_memchr(s, c, n);
  READS(s, found ? (size_t)(found - (char *)s) + 1 : n);
  return found;
})

WRAP(void *, memrchr, "memrchr", (const void *s, int c, size_t n), {
  char *found = __real_memrchr(s, c, n);
  const char *from = found ? found : s;
  READS(from, (const char *)s + n - from);
  return found;
})

WRAP(void *, rawmemchr, "rawmemchr", (const void *s, int c), {
  char *found = __real_rawmemchr(s, c);
  READS(s, found - (char *)s + 1);
  return found;
})

/* Wide characters. */
#define WIDE(n) ((n) * sizeof(wchar_t))

#define WIDE_COPY(name)                                                                            \
  WRAP(wchar_t *, name, #name, (wchar_t *to, const wchar_t *from, size_t n), {                     \
    READS(from, WIDE(n));                                                                          \
    WRITES(to, WIDE(n));                                                                           \
    return __real_##name(to, from, n);                                                             \
  })

WIDE_COPY(wmemcpy)
WIDE_COPY(wmemmove)

WRAP(wchar_t *, wmemset, "wmemset", (wchar_t *to, wchar_t c, size_t n), {
  WRITES(to, WIDE(n));
  return __real_wmemset(to, c, n);
})

WRAP(size_t, wcslen, "wcslen", (const wchar_t *s), {
  size_t length = __real_wcslen(s);
  READS(s, WIDE(length + 1));
  return length;
})

WRAP(wchar_t *, wcscpy, "wcscpy", (wchar_t *to, const wchar_t *from), {
  if (on) {
    size_t size = WIDE(__real_wcslen(from) + 1);
    READS(from, size);
    WRITES(to, size);
  }
  return __real_wcscpy(to, from);
})
