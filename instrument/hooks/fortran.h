/* libgfortran's array descriptors of GCC 8 and later (libgfortran.h). */
#ifndef COMMSAN_FORTRAN_H
#define COMMSAN_FORTRAN_H

#include "wrap.h"

#include <sys/types.h>

struct array {
  char *base;
  size_t offset;
  struct {
    size_t element;
    int32_t version;
    signed char rank, type;
    int16_t attribute;
  } dtype;
  ssize_t span;
  struct {
    ssize_t stride, lower, upper;
  } dim[15];
};

/* Checks the elements of an array, as one range if they are contiguous. */
static __attribute__((unused)) void check_array(const struct array *a, size_t element, int write, const char *by,
                        const void *pc) {
  ssize_t index[15] = {0}, run = 1;
  int rank = a->dtype.rank, inner = 0;
  if (!a->base || rank > 15) return;
  for (int d = 0; d < rank; d++)
    if (a->dim[d].upper < a->dim[d].lower) return;
  size_t unit = a->span > 0 ? (size_t)a->span : element;
  for (; inner < rank && unit == element && a->dim[inner].stride == run; inner++)
    run *= a->dim[inner].upper - a->dim[inner].lower + 1;
  for (;;) {
    ssize_t at = 0;
    for (int d = inner; d < rank; d++) at += index[d] * a->dim[d].stride;
    commsan_check(a->base + at * (ssize_t)unit, run * element, write, by, pc);
    int d = inner;
    while (d < rank && ++index[d] > a->dim[d].upper - a->dim[d].lower) index[d++] = 0;
    if (d == rank) return;
  }
}

#define ARRAY_CHECK(array, element, write)                                                         \
  do {                                                                                             \
    if (on) check_array(array, element, write, by, CALLER_PC);                                     \
  } while (0)

#endif
