/* Conversion of text to numbers, and sorting.
 *
 * A conversion reads up to and including the character that ends the number. bsearch is not
 * wrapped: only the comparison function, itself instrumented, reads the elements.
 */
#include "wrap.h"

long __real_strtol(const char *s, char **end, int base);
double __real_strtod(const char *s, char **end);

#define CONVERSION_CHECKS                                                                          \
  READS(s, stop - s + 1);                                                                          \
  if (end) {                                                                                       \
    WRITES(end, sizeof *end);                                                                      \
    *end = stop;                                                                                   \
  }

#define INTEGER(T, name, in_reports)                                                               \
  WRAP(T, name, in_reports, (const char *s, char **end, int base), {                               \
    if (!on) return __real_##name(s, end, base);                                                   \
    char *stop = (char *)s;                                                                        \
    T value = __real_##name(s, &stop, base);                                                       \
    CONVERSION_CHECKS                                                                              \
    return value;                                                                                  \
  })

INTEGER(long, strtol, "strtol")
INTEGER(long long, strtoll, "strtoll")
INTEGER(unsigned long, strtoul, "strtoul")
INTEGER(unsigned long long, strtoull, "strtoull")

#define REAL(T, name)                                                                              \
  WRAP(T, name, #name, (const char *s, char **end), {                                              \
    if (!on) return __real_##name(s, end);                                                         \
    char *stop = (char *)s;                                                                        \
    T value = __real_##name(s, &stop);                                                             \
    CONVERSION_CHECKS                                                                              \
    return value;                                                                                  \
  })

REAL(float, strtof)
REAL(double, strtod)
REAL(long double, strtold)

#define SHORT_FORM(T, name, convert)                                                               \
  WRAP(T, name, #name, (const char *s), {                                                          \
    char *stop = (char *)s;                                                                        \
    if (on) convert;                                                                               \
    READS(s, stop - s + 1);                                                                        \
    return __real_##name(s);                                                                       \
  })

SHORT_FORM(int, atoi, __real_strtol(s, &stop, 10))
SHORT_FORM(long, atol, __real_strtol(s, &stop, 10))
SHORT_FORM(long long, atoll, __real_strtol(s, &stop, 10))
SHORT_FORM(double, atof, __real_strtod(s, &stop))

typedef int compare(const void *, const void *);
typedef int compare_r(const void *, const void *, void *);

WRAP(void, qsort, "qsort", (void *base, size_t n, size_t size, compare *order), {
  if (n > 1) WRITES(base, n * size);
  __real_qsort(base, n, size, order);
})

WRAP(void, qsort_r, "qsort_r", (void *base, size_t n, size_t size, compare_r *order, void *with), {
  if (n > 1) WRITES(base, n * size);
  __real_qsort_r(base, n, size, order, with);
})
