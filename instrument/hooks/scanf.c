/* The scanf family: writes to as many of its pointer arguments as the call reports as assigned.
 *
 * The walk stops silently at the first unknown conversion, and at %n behind the last assignment,
 * which may not have been reached. Of "%9c" only the first character is certain to be written.
 */
#define _GNU_SOURCE
#include "wrap.h"

#include <stdarg.h>
#include <stdio.h>
#include <wchar.h>

size_t __real_wcslen(const wchar_t *s);

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

enum length { BYTE = 1, SHORT = 2, PLAIN = 4, LONG = 8, LONG_DOUBLE = 16 };

static enum length length_modifier(const char **f) {
  enum length length = PLAIN;
  for (;; (*f)++) switch (**f) {
    case 'h': length = length == SHORT ? BYTE : SHORT; break;
    case 'l': case 'j': case 'z': case 't': case 'q': length = LONG; break;
    case 'L': length = LONG_DOUBLE; break;
    default: return length;
    }
}

/* Skips "[^]...]"; returns the position of the closing bracket. */
static const char *end_of_set(const char *f) {
  f++;
  if (*f == '^') f++;
  if (*f == ']') f++;
  while (*f && *f != ']') f++;
  return f;
}

static void check_assignments(const char *f, va_list original, int assigned, const char *by,
                              const void *pc) {
  va_list arguments;
  va_copy(arguments, original);
  for (; *f && assigned > 0; f++) {
    if (*f != '%') continue;
    f++;
    if (*f == '%') continue;
    bool is_suppressed = *f == '*', allocates = false;
    size_t size;
    if (is_suppressed) f++;
    while (*f == '\'' || *f == 'I') f++;
    while (is_digit(*f)) f++;
    if (*f == 'm') allocates = true, f++;
    enum length length = length_modifier(&f);
    char conversion = *f;
    if (conversion == '[') f = end_of_set(f);
    if (!*f) break;
    if (is_suppressed) continue;
    if (conversion == 'S' || conversion == 'C') length = LONG, conversion += 'a' - 'A';
    bool is_wide = length == LONG;
    void *to = va_arg(arguments, void *);
    switch (conversion) {
    case 'd': case 'i': case 'o': case 'u': case 'x': case 'X': case 'n':
      size = length == LONG_DOUBLE ? sizeof(long long) : length;
      break;
    case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': case 'a': case 'A':
      size = length;
      break;
    case 'p': size = sizeof(void *); break;
    case 'c': size = is_wide ? sizeof(wchar_t) : 1; break;
    case 's': case '[':
      if (allocates) size = 0;
      else size = is_wide ? (__real_wcslen(to) + 1) * sizeof(wchar_t) : string_size(to);
      break;
    default: goto done; /* among them "%1$d" */
    }
    commsan_check(to, allocates ? sizeof(char *) : size, 1, by, pc);
    if (conversion != 'n') assigned--;
  }
done:
  va_end(arguments);
}

#define SCAN(name, v_name, in_reports, parameters, v_parameters, ...)                              \
  WRAP(int, v_name, "v" in_reports, v_parameters, {                                                \
    va_list walked;                                                                                \
    va_copy(walked, arguments);                                                                    \
    int assigned = __real_##v_name(__VA_ARGS__);                                                   \
    if (on) check_assignments(format, walked, assigned, by, CALLER_PC);                            \
    va_end(walked);                                                                                \
    return assigned;                                                                               \
  })                                                                                               \
  WRAP(int, name, in_reports, parameters, {                                                        \
    va_list arguments;                                                                             \
    va_start(arguments, format);                                                                   \
    int assigned = __real_##v_name(__VA_ARGS__);                                                   \
    va_end(arguments);                                                                             \
    va_start(arguments, format);                                                                   \
    if (on) check_assignments(format, arguments, assigned, by, CALLER_PC);                         \
    va_end(arguments);                                                                             \
    return assigned;                                                                               \
  })

#define SCANF(prefix)                                                                              \
  SCAN(prefix##scanf, prefix##vscanf, "scanf", (const char *format, ...),                          \
       (const char *format, va_list arguments), format, arguments)                                 \
  SCAN(prefix##fscanf, prefix##vfscanf, "fscanf", (FILE * f, const char *format, ...),             \
       (FILE * f, const char *format, va_list arguments), f, format, arguments)                    \
  SCAN(prefix##sscanf, prefix##vsscanf, "sscanf", (const char *from, const char *format, ...),     \
       (const char *from, const char *format, va_list arguments), from, format, arguments)

/* The old scanf reads %a as an allocation in C89 programs; %as is rare enough to be ignored. */
SCANF()
SCANF(__isoc99_)
