/* What loops are tried with that may run without checks beside what is pending elsewhere: with
 * every 8 bytes watched alone, a loop must be seen to touch exactly what it does with all
 * watched. */
#ifndef REACH_H
#define REACH_H

#include "harness.h"

#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline, noclone))

enum { LENGTH = sizeof area / sizeof(double), N = 40 };

static int chosen[N], first_of[4] = {3, 11, 2, 7}, last_of[4] = {20, 31, 9, 38};
static double out[LENGTH], sum;

/* `watch` is stored to as a loop runs: it then watches the area, for accesses that ask by
 * themselves. */
#define LOOP(name) static APART double name(double *p, long n, float *watch, float on)

typedef double loop(double *p, long n, float *watch, float on);

static APART __attribute__((no_sanitize("thread"))) void fill(void) {
  for (long i = 0; i < LENGTH; i++) ((double *)area)[i] = 1 + i % 7;
}

static APART __attribute__((no_sanitize("thread"))) void misses_nothing(loop *run, const char *name) {
  static unsigned char expected[2][LENGTH];
  static float nowhere;
  double *p = (double *)area;
  begin(), fill();
  sum += run(p, N, &nowhere, 0);
  for (long i = 0; i < LENGTH; i++)
    for (int write = 0; write < 2; write++) expected[write][i] = touches(write, p + i) != 0;
  for (long i = 0; i < LENGTH; i++) {
    begin_with(p + i, 1), fill();
    sum += run(p, N, &nowhere, 0);
    for (int write = 0; write < 2; write++)
      if ((touches(write, p + i) != 0) != expected[write][i]) fail_at(i, name);
  }
}

#endif
