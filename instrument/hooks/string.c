/* str* family: the sizes of accesses follow from the strings themselves. */
#define _GNU_SOURCE
#include "wrap.h"

#include <ctype.h>

WRAP(size_t, strlen, "strlen", (const char *s), {
  size_t length = __real_strlen(s);
  READS(s, length + 1);
  return length;
})

WRAP(size_t, strnlen, "strnlen", (const char *s, size_t n), {
  if (on) READS(s, bounded_size(s, n));
  return __real_strnlen(s, n);
})

#define COPY(name)                                                                                 \
  WRAP(char *, name, #name, (char *to, const char *from), {                                        \
    if (on) {                                                                                      \
      READS(from, string_size(from));                                                              \
      WRITES(to, string_size(from));                                                               \
    }                                                                                              \
    return __real_##name(to, from);                                                                \
  })                                                                                               \
  WRAP(char *, __##name##_chk, #name, (char *to, const char *from, size_t room), {                 \
    if (on) {                                                                                      \
      READS(from, string_size(from));                                                              \
      WRITES(to, string_size(from));                                                               \
    }                                                                                              \
    return __real___##name##_chk(to, from, room);                                                  \
  })

COPY(strcpy)
COPY(stpcpy)

/* The rest of the destination is filled with zeros. */
#define PADDED_COPY(name)                                                                          \
  WRAP(char *, name, #name, (char *to, const char *from, size_t n), {                              \
    if (on) {                                                                                      \
      READS(from, bounded_size(from, n));                                                          \
      WRITES(to, n);                                                                               \
    }                                                                                              \
    return __real_##name(to, from, n);                                                             \
  })                                                                                               \
  WRAP(char *, __##name##_chk, #name, (char *to, const char *from, size_t n, size_t room), {       \
    if (on) {                                                                                      \
      READS(from, bounded_size(from, n));                                                          \
      WRITES(to, n);                                                                               \
    }                                                                                              \
    return __real___##name##_chk(to, from, n, room);                                               \
  })

PADDED_COPY(strncpy)
PADDED_COPY(stpncpy)

#define APPEND_CHECKS(read_size, length)                                                           \
  if (on) {                                                                                        \
    size_t old = __real_strlen(to);                                                                \
    READS(from, read_size);                                                                        \
    READS(to, old + 1);                                                                            \
    WRITES(to + old, (length) + 1);                                                                \
  }

WRAP(char *, strcat, "strcat", (char *to, const char *from), {
  APPEND_CHECKS(string_size(from), __real_strlen(from))
  return __real_strcat(to, from);
})

WRAP(char *, __strcat_chk, "strcat", (char *to, const char *from, size_t room), {
  APPEND_CHECKS(string_size(from), __real_strlen(from))
  return __real___strcat_chk(to, from, room);
})

WRAP(char *, strncat, "strncat", (char *to, const char *from, size_t n), {
  APPEND_CHECKS(bounded_size(from, n), __real_strnlen(from, n))
  return __real_strncat(to, from, n);
})

WRAP(char *, __strncat_chk, "strncat", (char *to, const char *from, size_t n, size_t room), {
  APPEND_CHECKS(bounded_size(from, n), __real_strnlen(from, n))
  return __real___strncat_chk(to, from, n, room);
})

/* The number of bytes up to and including the first difference or the end. */
static size_t compared(const char *a, const char *b, size_t n, bool fold) {
  for (size_t i = 0; i < n; i++) {
    unsigned char x = a[i], y = b[i];
    if (x != y && !(fold && tolower(x) == tolower(y))) return i + 1;
    if (x == 0) return i + 1;
  }
  return n;
}

#define COMPARE_CHECKS(n, fold)                                                                    \
  if (on) {                                                                                        \
    size_t size = compared(a, b, n, fold);                                                         \
    READS(a, size);                                                                                \
    READS(b, size);                                                                                \
  }

#define COMPARE(name, bounded_name, fold)                                                          \
  WRAP(int, name, #name, (const char *a, const char *b), {                                         \
    COMPARE_CHECKS(SIZE_MAX, fold)                                                                 \
    return __real_##name(a, b);                                                                    \
  })                                                                                               \
  WRAP(int, bounded_name, #bounded_name, (const char *a, const char *b, size_t n), {               \
    COMPARE_CHECKS(n, fold)                                                                        \
    return __real_##bounded_name(a, b, n);                                                         \
  })

COMPARE(strcmp, strncmp, false)
COMPARE(strcasecmp, strncasecmp, true)

#define FIND(name)                                                                                 \
  WRAP(char *, name, #name, (const char *s, int c), {                                              \
    char *found = __real_##name(s, c);                                                             \
    if (on) READS(s, found ? (size_t)(found - s) + 1 : string_size(s));                            \
    return found;                                                                                  \
  })

FIND(strchr)
FIND(strchrnul)
FIND(index)

#define FIND_LAST(name)                                                                            \
  WRAP(char *, name, #name, (const char *s, int c), {                                              \
    if (on) READS(s, string_size(s));                                                              \
    return __real_##name(s, c);                                                                    \
  })

FIND_LAST(strrchr)
FIND_LAST(rindex)

#define FIND_STRING(name)                                                                          \
  WRAP(char *, name, #name, (const char *s, const char *part), {                                   \
    char *found = __real_##name(s, part);                                                          \
    if (on) {                                                                                      \
      READS(s, found ? (size_t)(found - s) + __real_strlen(part) : string_size(s));                \
      READS(part, string_size(part));                                                              \
    }                                                                                              \
    return found;                                                                                  \
  })

FIND_STRING(strstr)
FIND_STRING(strcasestr)

WRAP(char *, strpbrk, "strpbrk", (const char *s, const char *set), {
  char *found = __real_strpbrk(s, set);
  if (on) {
    READS(s, found ? (size_t)(found - s) + 1 : string_size(s));
    READS(set, string_size(set));
  }
  return found;
})

#define SPAN(name)                                                                                 \
  WRAP(size_t, name, #name, (const char *s, const char *set), {                                    \
    size_t length = __real_##name(s, set);                                                         \
    if (on) {                                                                                      \
      READS(s, length + 1);                                                                        \
      READS(set, string_size(set));                                                                \
    }                                                                                              \
    return length;                                                                                 \
  })

SPAN(strspn)
SPAN(strcspn)

/* The copy is new memory, which no operation can use. */
#define DUPLICATE(name)                                                                            \
  WRAP(char *, name, "strdup", (const char *s), {                                                  \
    if (on) READS(s, string_size(s));                                                              \
    return __real_##name(s);                                                                       \
  })
#define BOUNDED_DUPLICATE(name)                                                                    \
  WRAP(char *, name, "strndup", (const char *s, size_t n), {                                       \
    if (on) READS(s, bounded_size(s, n));                                                          \
    return __real_##name(s, n);                                                                    \
  })

DUPLICATE(strdup)
DUPLICATE(__strdup)
BOUNDED_DUPLICATE(strndup)
BOUNDED_DUPLICATE(__strndup)
