/* Loops of which it is known beforehand what they may access: they run without checks while nothing
 * is pending there, whatever is pending elsewhere, and never miss what is. */
#include "reach.h"

struct fields {
  long count;
  double *values;
  int *index;
};
static struct fields *fields;

/* Two dimensions, of which one is not known. */
LOOP(plane) {
  double all = 0;
  for (long i = 0; i < n; i++) {
    for (long j = 0; j < 9; j++) all += p[i * n / 4 + j] * p[i * (n - 3) + j];
    *watch = on;
  }
  return all;
}

LOOP(rows) {
  for (long i = 2; i < 12; i++) {
    for (long j = 1; j < n; j++) p[i * 100 + j * 2] = p[i * 100 + j * 2 + 1] + i;
    *watch = on;
  }
  return 0;
}

LOOP(backwards) {
  double all = 0;
  for (long i = n; i > 0; i--) {
    for (int j = 5; j >= 0; j--) all += p[i * 20 - j * 3];
    *watch = on;
  }
  return all;
}

LOOP(triangle) {
  double all = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) all += p[i * 30 + j];
    *watch = on;
  }
  return all;
}

/* A step that only the caller knows, even of which sign. */
LOOP(steps) {
  double all = 0;
  const long step = OPAQUE(-n / 2);
  for (long i = 0; i < n; i++) {
    for (long j = 0; j < 4; j++) all += p[1000 + i * step + j];
    *watch = on;
  }
  return all;
}

LOOP(unsigned_counters) {
  double all = 0;
  const unsigned end = n;
  for (unsigned i = 1; i != end; i++) {
    for (unsigned j = end; j > i; j--) all += p[(i + 2) * 31 + (j - 1)];
    *watch = on;
  }
  return all;
}

/* Bounds that the loop itself loads, of parts that may be empty. */
LOOP(parts) {
  double all = 0;
  for (int i = 0; i < 4; i++) {
    for (int j = first_of[i]; j < last_of[i] - n / 4; j++) all += p[i * 200 + j] - out[j];
    *watch = on;
  }
  return all;
}

LOOP(pointers) {
  double all = 0;
  for (double *at = p + 7, *end = p + n * 15; at != end; at++) {
    all += *at > 1 ? at[3] : 1;
    *watch = on;
  }
  return all;
}

/* Fills and copies are calls. */
LOOP(filled) {
  for (long i = 0; i < n; i++) {
    memset(p + i * 33, 0, n / 2 * sizeof *p);
    for (int j = 0; j < 6; j++) p[i * 33 + 25 + j] = out[j];
    *watch = on;
  }
  return 0;
}

/* Through an index: what is known is the object. */
LOOP(gathered) {
  double all = 0;
  for (long i = 0; i < n; i++) {
    double value = p[chosen[i]] + p[chosen[n - 1 - i] * 3];
    if (value > 1e9) break;
    for (int j = 0; j < 3; j++) all += value * out[(chosen[i] + j) % 7];
    *watch = on;
  }
  return all;
}

LOOP(scattered) {
  for (long i = 0; i < n; i++) {
    if (p[chosen[i] + 500] > 1e9) break;
    p[chosen[i] * 2] += out[chosen[i]];
    *watch = on;
  }
  return 0;
}

/* Through pointers in a structure, which only some iterations load. */
LOOP(of_members) {
  double all = p[0];
  for (long i = 0; i < n; i++) {
    if (out[i] < 1) all += fields->values[fields->index[i]];
    else fields->values[fields->index[i] + 100] = all;
    if (all < -1) exit(9);
    *watch = on;
  }
  return all;
}

/* Another object in each iteration outside, so that only the loops inside are known. */
LOOP(of_rows) {
  double *row[8], all = 0;
  for (int i = 0; i < 8; i++) row[i] = p + i * 150;
  __asm__("" : "+m"(row));
  for (int i = 0; i < 8; i++)
    for (long j = 0; j < n; j++) {
      all += row[i][chosen[j] + 50] * row[i][chosen[j]];
      if (all < -1) break;
      *watch = on;
    }
  return all;
}

/* Two pointers that change places. */
LOOP(swapped) {
  double *from = p, *to = p + 700;
  for (int i = 0; i < 4; i++) {
    for (long j = 1; j < n - 1; j++) to[j * 3] = from[j * 3 - 3] + from[j * 3 + 3];
    double *other = from;
    from = to, to = other;
    *watch = on;
  }
  return from == p;
}

/* An index that stays in bounds by wrapping around. */
LOOP(ring) {
  double all = 0;
  unsigned char at = 200;
  for (long i = 0; i < n * 3; i++) {
    all += p[at] * p[(unsigned)(i * 0x9e3779b1u) >> 24];
    at += 5;
    *watch = on;
  }
  return all;
}

/* What the loop accesses after it has begun is not asked about. */
static APART __attribute__((no_sanitize("thread"))) void is_free(loop *run, const char *name) {
  float on, *const watch = watching(&on);
  begin(), fill();
  unwatch(area, sizeof area);
  sum += run((double *)area, N, watch, on);
  for (long i = 0; i < LENGTH; i++)
    if (touches(0, area + i * 8) || touches(1, area + i * 8)) return fail_at(i, name);
}

#define EACH(check)                                                                                \
  check(plane, "plane"), check(rows, "rows"), check(backwards, "backwards"),                       \
  check(triangle, "triangle"), check(steps, "steps"),                                              \
  check(unsigned_counters, "unsigned_counters"), check(parts, "parts"),                            \
  check(pointers, "pointers"), check(gathered, "gathered"),                 \
  check(scattered, "scattered"), check(swapped, "swapped")

int main(void) {
  fields = malloc(sizeof *fields);
  know_block(fields, sizeof *fields);
  *fields = (struct fields){N, (double *)area, chosen};
  for (int i = 0; i < N; i++) chosen[i] = i * 7 % N;
  EACH(misses_nothing);
  misses_nothing(filled, "filled");
  misses_nothing(of_members, "of_members");
  misses_nothing(of_rows, "of_rows");
  misses_nothing(ring, "ring");
#if FREE_OF_CHECKS > 0
  EACH(is_free);
#endif
#if FREE_OF_CHECKS > 1 /* with strict aliasing: what is stored are no pointers */
  is_free(of_members, "of_members");
#endif
  free(fields);
  return finish();
}
