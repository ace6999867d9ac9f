/* The printf family: writes to its buffer, and reads of the strings for %s.
 *
 * The walk over the arguments stops silently at the first unknown conversion: from there on,
 * neither the type of an argument nor the position of the next one is certain.
 */
#define _GNU_SOURCE
#include "wrap.h"

#include <stdarg.h>
#include <stdio.h>
#include <wchar.h>

size_t __real_wcslen(const wchar_t *s);

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_one_of(char c, const char *set) {
  for (; *set; set++)
    if (*set == c) return true;
  return false;
}

/* Parses a width or precision; returns false for a positional one ("%2$*1$d"). */
static bool number(const char **f, va_list *arguments, int *value) {
  if (**f == '*') {
    (*f)++;
    *value = va_arg(*arguments, int);
    return !is_digit(**f);
  }
  for (*value = 0; is_digit(**f); (*f)++) *value = *value * 10 + (**f - '0');
  return **f != '$';
}

static void check_string(const void *s, bool is_wide, int precision, const char *by,
                         const void *pc) {
  if (!s) return;
  if (is_wide) {
    if (precision < 0) commsan_check(s, (__real_wcslen(s) + 1) * sizeof(wchar_t), 0, by, pc);
  } else {
    size_t size = precision < 0 ? string_size(s) : bounded_size(s, precision);
    commsan_check(s, size, 0, by, pc);
  }
}

/* Checks the strings among the arguments. */
static void check_strings(const char *f, va_list original, const char *by, const void *pc) {
  va_list arguments;
  va_copy(arguments, original);
  for (; *f; f++) {
    if (*f != '%') continue;
    f++;
    int width, precision = -1, longs = 0;
    bool is_long_double = false;
    while (*f && is_one_of(*f, "-+ #0'I")) f++;
    if (!number(&f, &arguments, &width)) goto done;
    if (*f == '.') {
      f++;
      if (!number(&f, &arguments, &precision)) goto done;
    }
    for (; *f && is_one_of(*f, "hljztqL"); f++) {
      if (is_one_of(*f, "ljztq")) longs++;
      if (*f == 'L') is_long_double = true;
    }
    switch (*f) {
    case '%':
    case 'm': break;
    case 'd': case 'i': case 'o': case 'u': case 'x': case 'X':
      if (longs || is_long_double) (void)va_arg(arguments, long);
      else (void)va_arg(arguments, int);
      break;
    case 'c': case 'C': (void)va_arg(arguments, int); break;
    case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': case 'a': case 'A':
      if (is_long_double) (void)va_arg(arguments, long double);
      else (void)va_arg(arguments, double);
      break;
    case 's': case 'S':
      check_string(va_arg(arguments, const void *), *f == 'S' || longs, precision, by, pc);
      break;
    case 'p': case 'n': (void)va_arg(arguments, void *); break;
    default: goto done;
    }
  }
done:
  va_end(arguments);
}

#define STRINGS if (on) check_strings(format, arguments, by, CALLER_PC)

/* A function and its v-form, both implemented by the v-form; `check` runs after the call. */
#define PRINT(name, v_name, in_reports, check, parameters, v_parameters, ...)                      \
  WRAP(int, v_name, "v" in_reports, v_parameters, {                                                \
    STRINGS;                                                                                       \
    int length = __real_##v_name(__VA_ARGS__);                                                     \
    check;                                                                                         \
    return length;                                                                                 \
  })                                                                                               \
  WRAP(int, name, in_reports, parameters, {                                                        \
    va_list arguments;                                                                             \
    va_start(arguments, format);                                                                   \
    STRINGS;                                                                                       \
    int length = __real_##v_name(__VA_ARGS__);                                                     \
    va_end(arguments);                                                                             \
    check;                                                                                         \
    return length;                                                                                 \
  })

#define NO_BUFFER (void)0
#define WHOLE_BUFFER if (length >= 0) WRITES(to, (size_t)length + 1)
/* Characters that did not fit are not written; if n is 0, not even the terminator is. */
#define BOUNDED_BUFFER                                                                             \
  if (length >= 0 && n > 0) WRITES(to, (size_t)length < n ? (size_t)length + 1 : n)

#define MEMBER(...) (__VA_ARGS__, const char *format, ...)
#define V_MEMBER(...) (__VA_ARGS__, const char *format, va_list arguments)

PRINT(printf, vprintf, "printf", NO_BUFFER, (const char *format, ...),
      (const char *format, va_list arguments), format, arguments)
PRINT(fprintf, vfprintf, "fprintf", NO_BUFFER, MEMBER(FILE *f), V_MEMBER(FILE *f), f, format,
      arguments)
PRINT(dprintf, vdprintf, "dprintf", NO_BUFFER, MEMBER(int fd), V_MEMBER(int fd), fd, format,
      arguments)
PRINT(asprintf, vasprintf, "asprintf", NO_BUFFER, MEMBER(char **to), V_MEMBER(char **to), to,
      format, arguments)
PRINT(sprintf, vsprintf, "sprintf", WHOLE_BUFFER, MEMBER(char *to), V_MEMBER(char *to), to, format,
      arguments)
PRINT(snprintf, vsnprintf, "snprintf", BOUNDED_BUFFER, MEMBER(char *to, size_t n),
      V_MEMBER(char *to, size_t n), to, n, format, arguments)

PRINT(__printf_chk, __vprintf_chk, "printf", NO_BUFFER, MEMBER(int flag), V_MEMBER(int flag), flag,
      format, arguments)
PRINT(__fprintf_chk, __vfprintf_chk, "fprintf", NO_BUFFER, MEMBER(FILE *f, int flag),
      V_MEMBER(FILE *f, int flag), f, flag, format, arguments)
PRINT(__dprintf_chk, __vdprintf_chk, "dprintf", NO_BUFFER, MEMBER(int fd, int flag),
      V_MEMBER(int fd, int flag), fd, flag, format, arguments)
PRINT(__asprintf_chk, __vasprintf_chk, "asprintf", NO_BUFFER, MEMBER(char **to, int flag),
      V_MEMBER(char **to, int flag), to, flag, format, arguments)
PRINT(__sprintf_chk, __vsprintf_chk, "sprintf", WHOLE_BUFFER, MEMBER(char *to, int flag, size_t room),
      V_MEMBER(char *to, int flag, size_t room), to, flag, room, format, arguments)
PRINT(__snprintf_chk, __vsnprintf_chk, "snprintf", BOUNDED_BUFFER,
      MEMBER(char *to, size_t n, int flag, size_t room),
      V_MEMBER(char *to, size_t n, int flag, size_t room), to, n, flag, room, format, arguments)
