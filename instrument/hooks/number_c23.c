/* The names of strtol and similar functions in newer C headers. Programs refer to them only if the
 * C library has them, so they are a separate archive member. */
#include "wrap.h"

#define INTEGER(T, name, in_reports)                                                               \
  WRAP(T, name, in_reports, (const char *s, char **end, int base), {                               \
    char *stop = (char *)s;                                                                        \
    T value = __real_##name(s, &stop, base);                                                       \
    READS(s, stop - s + 1);                                                                        \
    if (end) {                                                                                     \
      WRITES(end, sizeof *end);                                                                    \
      *end = stop;                                                                                 \
    }                                                                                              \
    return value;                                                                                  \
  })

INTEGER(long, __isoc23_strtol, "strtol")
INTEGER(long long, __isoc23_strtoll, "strtoll")
INTEGER(unsigned long, __isoc23_strtoul, "strtoul")
INTEGER(unsigned long long, __isoc23_strtoull, "strtoull")
