/* stdio functions without format strings. */
#define _GNU_SOURCE
#include "wrap.h"

#include <stdio.h>

#define BLOCK(name, in_reports, touch, pointer)                                                    \
  WRAP(size_t, name, in_reports, (pointer p, size_t size, size_t n, FILE *f), {                    \
    size_t done = __real_##name(p, size, n, f);                                                    \
    touch(p, done *size);                                                                          \
    return done;                                                                                   \
  })

BLOCK(fread, "fread", WRITES, void *)
BLOCK(fread_unlocked, "fread", WRITES, void *)
BLOCK(fwrite, "fwrite", READS, const void *)
BLOCK(fwrite_unlocked, "fwrite", READS, const void *)

#define CHECKED_BLOCK(name)                                                                        \
  WRAP(size_t, name, "fread", (void *p, size_t room, size_t size, size_t n, FILE *f), {            \
    size_t done = __real_##name(p, room, size, n, f);                                              \
    WRITES(p, done *size);                                                                         \
    return done;                                                                                   \
  })

CHECKED_BLOCK(__fread_chk)
CHECKED_BLOCK(__fread_unlocked_chk)

#define LINE(name, parameters, ...)                                                                \
  WRAP(char *, name, "fgets", parameters, {                                                        \
    char *line = __real_##name(__VA_ARGS__);                                                       \
    if (on && line) WRITES(line, string_size(line));                                               \
    return line;                                                                                   \
  })

LINE(fgets, (char *s, int n, FILE *f), s, n, f)
LINE(fgets_unlocked, (char *s, int n, FILE *f), s, n, f)
LINE(__fgets_chk, (char *s, size_t room, int n, FILE *f), s, room, n, f)
LINE(__fgets_unlocked_chk, (char *s, size_t room, int n, FILE *f), s, room, n, f)

#define PUT(name)                                                                                  \
  WRAP(int, name, "fputs", (const char *s, FILE *f), {                                             \
    if (on) READS(s, string_size(s));                                                              \
    return __real_##name(s, f);                                                                    \
  })

PUT(fputs)
PUT(fputs_unlocked)

WRAP(int, puts, "puts", (const char *s), {
  if (on) READS(s, string_size(s));
  return __real_puts(s);
})

#define GET_LINE(name, in_reports, parameters, ...)                                                \
  WRAP(ssize_t, name, in_reports, parameters, {                                                    \
    ssize_t length = __real_##name(__VA_ARGS__);                                                   \
    if (on && length >= 0) WRITES(*line, (size_t)length + 1);                                      \
    return length;                                                                                 \
  })

GET_LINE(getline, "getline", (char **line, size_t *room, FILE *f), line, room, f)
GET_LINE(getdelim, "getdelim", (char **line, size_t *room, int end, FILE *f), line, room, end, f)
GET_LINE(__getdelim, "getdelim", (char **line, size_t *room, int end, FILE *f), line, room, end, f)
