/* How a libc function is wrapped.
 *
 * The linker's --wrap=NAME redirects calls of NAME to __wrap_NAME, and calls of __real_NAME to
 * NAME. The list of names for the linker is extracted from the archive (see Makefile), so a new
 * wrapper only needs a definition. Two rules apply:
 *
 * - Exactness: a byte that the function does not access is never reported. The accessed bytes
 *   depend on the result, so many checks follow the call.
 * - A program may define a function of its own called `send` or `getline`; arguments are checked
 *   only if the name resolves to libc.
 */
#ifndef COMMSAN_WRAP_H
#define COMMSAN_WRAP_H

#include "hooks.h"

/* WRAP(result type, name, "name in reports", (parameters), { body }): in the body, READS and
 * WRITES check a range, `on` is whether anything has to be checked. */
#define WRAP(T, name, name_in_reports, parameters, ...)                                            \
  T __real_##name parameters;                                                                      \
  T __wrap_##name parameters;                                                                      \
  T __wrap_##name parameters {                                                                     \
    const bool on = COMMSAN_ABI->live && commsan_is_libc((const void *)__real_##name);             \
    const char *const by = name_in_reports;                                                        \
    (void)on, (void)by;                                                                            \
    __VA_ARGS__                                                                                    \
  }

/* WRAP for a function of another library, whose names no program redefines. */
#define WRAP_OTHER(T, name, name_in_reports, parameters, ...)                                      \
  T __real_##name parameters;                                                                      \
  T __wrap_##name parameters;                                                                      \
  T __wrap_##name parameters {                                                                     \
    const bool on = COMMSAN_ABI->live;                                                             \
    const char *const by = name_in_reports;                                                        \
    (void)on, (void)by;                                                                            \
    __VA_ARGS__                                                                                    \
  }

#define CHECK_RANGE(p, size, write)                                                                \
  do {                                                                                             \
    if (on) commsan_check(p, size, write, by, CALLER_PC);                                          \
  } while (0)
#define READS(p, size) CHECK_RANGE(p, size, 0)
#define WRITES(p, size) CHECK_RANGE(p, size, 1)

/* Plain strlen and similar functions would be wrapped themselves. */
size_t __real_strlen(const char *s);
size_t __real_strnlen(const char *s, size_t n);

/* Bytes of a string including its terminator; with a limit, at most that many. */
static inline size_t string_size(const char *s) { return __real_strlen(s) + 1; }
static inline size_t bounded_size(const char *s, size_t n) {
  size_t length = __real_strnlen(s, n);
  return length < n ? length + 1 : n;
}

#endif
