/* libgfortran: data transfer statements, packing of array arguments, character operations.
 *
 * The beginning of the transfer parameter block is that of GCC 8 and later (io/io.h).
 */
#include "fortran.h"

#define READ "READ statement"
#define WRITE "WRITE statement"

struct transfer {
  int32_t flags;
};

/* The low bits hold the outcome so far: after end of file or an error, nothing was stored. */
static bool is_ok(const struct transfer *t) { return (t->flags & 3) == 0; }

/* Kind 10 is the x87 type, stored in 16 bytes. */
static size_t real_size(int kind) { return kind == 10 ? 16 : (size_t)kind; }

#define SCALAR(type, bytes)                                                                        \
  WRAP_OTHER(void, _gfortran_transfer_##type, READ, (struct transfer * t, void *p, int kind), {    \
    __real__gfortran_transfer_##type(t, p, kind);                                                  \
    if (is_ok(t)) WRITES(p, bytes);                                                                \
  })                                                                                               \
  WRAP_OTHER(void, _gfortran_transfer_##type##_write, WRITE,                                       \
             (struct transfer * t, void *p, int kind), {                                           \
               READS(p, bytes);                                                                    \
               __real__gfortran_transfer_##type##_write(t, p, kind);                               \
             })

SCALAR(integer, (size_t)kind)
SCALAR(logical, (size_t)kind)
SCALAR(real, real_size(kind))
SCALAR(complex, 2 * real_size(kind))

WRAP_OTHER(void, _gfortran_transfer_character, READ, (struct transfer * t, void *p, size_t length), {
  __real__gfortran_transfer_character(t, p, length);
  if (is_ok(t)) WRITES(p, length);
})

WRAP_OTHER(void, _gfortran_transfer_character_write, WRITE,
           (struct transfer * t, void *p, size_t length), {
             READS(p, length);
             __real__gfortran_transfer_character_write(t, p, length);
           })

WRAP_OTHER(void, _gfortran_transfer_character_wide, READ,
           (struct transfer * t, void *p, size_t length, int kind), {
             __real__gfortran_transfer_character_wide(t, p, length, kind);
             if (is_ok(t)) WRITES(p, length *kind);
           })

WRAP_OTHER(void, _gfortran_transfer_character_wide_write, WRITE,
           (struct transfer * t, void *p, size_t length, int kind), {
             READS(p, length *kind);
             __real__gfortran_transfer_character_wide_write(t, p, length, kind);
           })

WRAP_OTHER(void, _gfortran_transfer_array, READ,
           (struct transfer * t, struct array *a, int kind, size_t length), {
             __real__gfortran_transfer_array(t, a, kind, length);
             if (is_ok(t)) ARRAY_CHECK(a, a->dtype.element, 1);
           })

WRAP_OTHER(void, _gfortran_transfer_array_write, WRITE,
           (struct transfer * t, struct array *a, int kind, size_t length), {
             ARRAY_CHECK(a, a->dtype.element, 0);
             __real__gfortran_transfer_array_write(t, a, kind, length);
           })

/* A contiguous array is used in place and not accessed. */
WRAP_OTHER(void *, _gfortran_internal_pack, "array packing", (struct array * a), {
  void *packed = __real__gfortran_internal_pack(a);
  if (packed != a->base) ARRAY_CHECK(a, a->dtype.element, 0);
  return packed;
})

WRAP_OTHER(void, _gfortran_internal_unpack, "array unpacking", (struct array * a, const void *from), {
  if (from != a->base) ARRAY_CHECK(a, a->dtype.element, 1);
  __real__gfortran_internal_unpack(a, from);
})

/* Strings are padded with blanks; a comparison stops at the first difference. */
static size_t compared(const unsigned char *a, size_t n, const unsigned char *other, size_t m) {
  size_t longest = n > m ? n : m, i = 0;
  for (; i < longest; i++)
    if ((i < n ? a[i] : ' ') != (i < m ? other[i] : ' ')) return i + 1;
  return i;
}

static size_t at_most(size_t n, size_t limit) { return n < limit ? n : limit; }

WRAP_OTHER(int, _gfortran_compare_string, "character comparison",
           (size_t n, const char *a, size_t m, const char *b), {
             if (on) {
               size_t size = compared((const void *)a, n, (const void *)b, m);
               READS(a, at_most(n, size));
               READS(b, at_most(m, size));
             }
             return __real__gfortran_compare_string(n, a, m, b);
           })

WRAP_OTHER(void, _gfortran_concat_string, "character concatenation",
           (size_t size, char *to, size_t n, const char *a, size_t m, const char *b), {
             size_t from_a = at_most(n, size);
             READS(a, from_a);
             READS(b, at_most(m, size - from_a));
             WRITES(to, size);
             __real__gfortran_concat_string(size, to, n, a, m, b);
           })
