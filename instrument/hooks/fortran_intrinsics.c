/* libgfortran: intrinsic functions of arrays and strings.
 *
 * Functions that need not access all of an argument are omitted (any, all, pack, unpack, masks), or
 * the accessed part is determined afterwards.
 */
#include "fortran.h"

/* Result, array, and up to four words whose meaning depends on the function. */
#define WORDS (struct array * to, struct array *from, void *c, void *d, void *e, void *f)
#define ARRAY(name, in_reports, before, after)                                                     \
  WRAP_OTHER(void, _gfortran_##name, in_reports, WORDS, {                                          \
    before;                                                                                        \
    __real__gfortran_##name(to, from, c, d, e, f);                                                 \
    after;                                                                                         \
    ARRAY_CHECK(to, to->dtype.element, 1);                                                         \
  })
#define READS_ARRAY(array) ARRAY_CHECK(array, (array)->dtype.element, 0)

#define WHOLE(name, in_reports) ARRAY(name, in_reports, READS_ARRAY(from), )
#define BY_SIZE(prefix, in_reports)                                                                \
  WHOLE(prefix##_4, in_reports)                                                                    \
  WHOLE(prefix##_8, in_reports)
#define REALS(prefix, in_reports)                                                                  \
  WHOLE(prefix##_r4, in_reports)                                                                   \
  WHOLE(prefix##_r8, in_reports)
#define NUMBERS(prefix, in_reports)                                                                \
  REALS(prefix, in_reports)                                                                        \
  WHOLE(prefix##_i4, in_reports)                                                                   \
  WHOLE(prefix##_i8, in_reports)
#define PLACES(prefix, in_reports)                                                                 \
  NUMBERS(prefix##_4, in_reports)                                                                  \
  NUMBERS(prefix##_8, in_reports)

BY_SIZE(cshift0, "cshift")
BY_SIZE(cshift1, "cshift")
WHOLE(cshift0_1, "cshift")
WHOLE(cshift0_2, "cshift")
WHOLE(cshift0_16, "cshift")
WHOLE(spread, "spread")
NUMBERS(sum, "sum")
WHOLE(sum_c4, "sum")
WHOLE(sum_c8, "sum")
NUMBERS(product, "product")
NUMBERS(maxval, "maxval")
NUMBERS(minval, "minval")
PLACES(maxloc0, "maxloc")
PLACES(minloc0, "minloc")
PLACES(maxloc1, "maxloc")
PLACES(minloc1, "minloc")
REALS(norm2, "norm2")

#define MATMUL(kind) ARRAY(matmul_##kind, "matmul", READS_ARRAY(from); READS_ARRAY((struct array *)c), )
MATMUL(r4)
MATMUL(r8)
MATMUL(c4)
MATMUL(c8)
MATMUL(i4)
MATMUL(i8)

/* Elements that are shifted out are not read. */
#define EOSHIFT(size) ARRAY(eoshift0_##size, "eoshift", , )
EOSHIFT(1)
EOSHIFT(2)
EOSHIFT(4)
EOSHIFT(8)

static size_t count(const struct array *a) {
  size_t elements = 1;
  for (int d = 0; d < a->dtype.rank; d++) {
    const ssize_t extent = a->dim[d].upper - a->dim[d].lower + 1;
    elements *= extent > 0 ? (size_t)extent : 0;
  }
  return elements;
}

/* Of a source that is larger than the result, only the beginning is read. */
#define RESHAPE(name)                                                                              \
  ARRAY(name, "reshape", , if (on && count(from) == count(to)) READS_ARRAY(from))
RESHAPE(reshape)
RESHAPE(reshape_4)
RESHAPE(reshape_8)
RESHAPE(reshape_r4)
RESHAPE(reshape_r8)
RESHAPE(reshape_c4)
RESHAPE(reshape_c8)

#define RANDOM(kind, T)                                                                            \
  WRAP_OTHER(void, _gfortran_random_##kind, "random_number", (T * to), {                           \
    __real__gfortran_random_##kind(to);                                                            \
    WRITES(to, sizeof *to);                                                                        \
  })                                                                                               \
  WRAP_OTHER(void, _gfortran_arandom_##kind, "random_number", (struct array * to), {               \
    __real__gfortran_arandom_##kind(to);                                                           \
    ARRAY_CHECK(to, to->dtype.element, 1);                                                         \
  })
RANDOM(r4, float)
RANDOM(r8, double)

/* The search for the last non-blank character starts at the end. */
WRAP_OTHER(size_t, _gfortran_string_len_trim, "len_trim", (size_t n, const char *text), {
  const size_t length = __real__gfortran_string_len_trim(n, text);
  const size_t first = length ? length - 1 : 0;
  READS(text + first, n - first);
  return length;
})

/* Positions count from 1, and 0 means not found; a backward search ends at the first match. If no
 * match is possible, nothing is read. */
#define SEARCH(name, in_reports, width)                                                            \
  WRAP_OTHER(size_t, _gfortran_string_##name, in_reports,                                          \
             (size_t n, const char *text, size_t m, const char *other, int back), {                \
               const size_t at = __real__gfortran_string_##name(n, text, m, other, back);          \
               if (!m || (width) > n) return at;                                                   \
               if (!at) READS(text, n);                                                            \
               else if (back) READS(text + at - 1, n - at + 1);                                    \
               else READS(text, at - 1 + (width));                                                 \
               return at;                                                                          \
             })
SEARCH(index, "index", m)
SEARCH(scan, "scan", 1)
SEARCH(verify, "verify", 1)

#define ADJUST(name)                                                                               \
  WRAP_OTHER(void, _gfortran_##name, #name, (char *to, size_t n, const char *from), {              \
    READS(from, n);                                                                                \
    WRITES(to, n);                                                                                 \
    __real__gfortran_##name(to, n, from);                                                          \
  })
ADJUST(adjustl)
ADJUST(adjustr)

WRAP_OTHER(void, _gfortran_string_trim, "trim", (size_t *length, void **to, size_t n, const char *from), {
  READS(from, n);
  __real__gfortran_string_trim(length, to, n, from);
})

WRAP_OTHER(void, _gfortran_date_and_time, "date_and_time",
           (char *date, char *time, char *zone, struct array *values, size_t n, size_t m, size_t k), {
             __real__gfortran_date_and_time(date, time, zone, values, n, m, k);
             if (date) WRITES(date, 8);
             if (time) WRITES(time, 10);
             if (zone) WRITES(zone, 5);
           })
