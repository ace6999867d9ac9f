/* Loops that a plugin gives a copy without checks: whatever granule is watched, what touches it is
 * reported, nothing else is, and all is computed as without checks. Where memory is exposed, what
 * touches it is noted, to the byte. */
#include "harness.h"

#include <stdint.h>

#define APART __attribute__((noinline, noclone))
#define UNCHECKED APART __attribute__((no_sanitize("thread")))
#define FOR(n) for (int i = 0; i < (n); i++)

struct cell {
  int key;
  double values[3];
  char flag;
};

/* What loops work on: places in the area around the end of a page, and memory that is not
 * watched. */
static double *p, *q;
static struct cell *cells;
static int chosen[300];
static double other[600], sum;
static long far = -(1l << 45);

/* Each loop as it is, and without any checks. */
#define LOOP(name, ...)                                                                            \
  static APART void name(void) { const int n = OPAQUE(61); __VA_ARGS__ }                           \
  static UNCHECKED void name##_unchecked(void) { const int n = OPAQUE(61); __VA_ARGS__ }

LOOP(forward, FOR(n) p[i] = other[i] + 1;)
LOOP(backward, for (int i = n - 1; i >= 0; i--) sum += p[i] *i;)
LOOP(reversed, FOR(n) other[i] = p[n - 1 - i];)
LOOP(in_place, FOR(n) p[i] = 2 * p[i] + q[i];)
LOOP(stencil, for (int i = 1; i < n - 1; i++) q[i] = p[i - 1] + p[i] + p[i + 1];)
LOOP(masked, FOR(n) if (chosen[i]) p[i] = other[i];)
LOOP(masked_load, FOR(n) if (chosen[i]) sum += p[i];)
LOOP(strided, FOR(n) p[3 * i] = q[2 * i];)
LOOP(sparse, FOR(n) p[(long)i * 8] += i;)
LOOP(over_a_page, FOR(n) p[16 * i] = i;)
LOOP(members, FOR(n) cells[i].values[1] = cells[i].key, cells[i].flag = 1;)
LOOP(pointers, for (char *end = (char *)p, *at = end + 8 * n; at > end;) *--at += 3;)
LOOP(up_to_the_end, for (double *at = p, *end = p + n; at != end; at++) *at += 1;)
LOOP(including_the_end, for (int i = 1; i <= n; i++) q[i] = p[i];)
LOOP(unsigned_indices, for (unsigned i = 0; i < (unsigned)n; i++) p[i] = i;)
LOOP(narrow_indices, for (unsigned char i = 0; i != (unsigned char)(n + 90); i++) p[i] = i;)
LOOP(wrapping_indices, for (unsigned i = -9; i != (unsigned)n; i++) p[(unsigned)(i + 9)] = i;)
LOOP(exit_in_the_middle, for (int i = 0;; p[i - 1] += 2) {
  p[i] = i;
  if (++i >= n) break;
})
LOOP(searching, FOR(n) {
  if (p[i] == 7) break;
  q[i] = p[i];
})
LOOP(none, FOR(n - 61) p[i] = 1;)
LOOP(one, FOR(n - 60) p[i] = 1;)
LOOP(few, FOR(n - 56) p[i] = other[i];)
LOOP(gathered, FOR(n) p[i] = q[chosen[i]];)
LOOP(never_there, FOR(n) if (chosen[i] > 5) p[far + i] = 1; else q[i] = 1;)
LOOP(nested, for (int k = 0; k < 5; k++) FOR(n / 5) p[k * 11 + i] += k;)

/* What is noted beforehand. */
LOOP(words, int *at = (int *)p + 1; FOR(n) at[i] = i;)
LOOP(bytes, char *at = (char *)p + 3; FOR(n) at[i] += at[i + 70];)
LOOP(every_other_word, int *at = (int *)p; FOR(n) at[2 * i + 1] = at[2 * i + 200];)
LOOP(every_other_back, short *at = (short *)p; for (int i = n; i >= 0; i -= 2) sum += at[i];)
LOOP(upwards_by_three, for (long i = 0; i < n; i += 3) p[i] = q[n - i];)
LOOP(up_to_a_word, for (unsigned i = 5; i <= (unsigned)n; i += 2) p[i] = 1;)
LOOP(half_of_them, FOR(n) { other[i] = p[i]; if (i % 2) q[i] = other[i]; })
LOOP(first_half, FOR(n) { sum += p[i]; if (i < n / 2) q[i] = sum; })
LOOP(leaving_early, FOR(n) {
  p[i] = i;
  if (other[i] > 17) break;
  q[i] = i;
})
LOOP(twice_a_line, for (int i = 0; i < n; i += 2) p[i] = 1, p[i + 1] = 2;)
LOOP(matrix, FOR(7) for (int j = 0; j < n / 4; j++) p[j * 7 + i] += q[i * 30 + j];)
LOOP(triangle, FOR(24) for (int j = 0; j < i; j++) p[i * 8 + j] = j;)
LOOP(not_at_all, FOR(n) for (long j = 9; j < OPAQUE(9); j++) p[j] = i;)

static UNCHECKED void fresh(void) {
  for (int i = 0; i < 300; i++) chosen[i] = i % 3 == 1;
  for (int i = 0; i < 600; i++) other[i] = i;
  p[7] = 3;
  sum = 0;
}

/* What the loop leaves behind, as a number. */
static UNCHECKED uint64_t outcome(void) {
  uint64_t hash = 0;
  for (size_t i = 0; i < sizeof area; i++) hash = hash * 31 + (unsigned char)area[i];
  for (int i = 0; i < 600; i++) hash = hash * 31 + (uint64_t)other[i];
  return hash * 31 + (uint64_t)sum;
}

/* The loop on memory that others may access. */
static void is_all_noted(void (*loop)(void), uint64_t right, char touched[2][sizeof area]) {
  expose();
  fresh();
  loop();
  CHECK(outcome() == right);
  for (size_t i = 0; i < sizeof area; i++)
    for (int write = 0; write < 2; write++)
      CHECK(is_noted(write, area + i) == touched[write][i]);
}

/* The loop with one granule after the other watched, compared with what it does to a whole area. */
static void try_loop(void (*loop)(void), void (*unchecked)(void)) {
  static char touched[2][sizeof area];
  begin();
  fresh();
  unchecked();
  const uint64_t right = outcome();

  begin();
  fresh();
  loop();
  CHECK(outcome() == right);
  for (size_t i = 0; i < sizeof area; i++)
    for (int write = 0; write < 2; write++) touched[write][i] = touches(write, area + i) != 0;

  begin_with(area, 0);
  unwatch(area, sizeof area);
  is_all_noted(loop, right, touched);
  for (char *granule = area; granule < area + sizeof area; granule += 8 * 29) {
    begin_with(granule, 1);
    is_all_noted(loop, right, touched);
    for (int i = 0; i < 8; i++)
      for (int write = 0; write < 2; write++)
        CHECK(!!touches(write, granule + i) == touched[write][granule - area + i]);
  }

  for (char *granule = area; granule < area + sizeof area; granule += 8) {
    for (int received = 0; received < 2; received++) {
      begin_with(granule, received);
      fresh();
      loop();
      for (int i = 0; i < 8; i++) {
        CHECK(!!touches(0, granule + i) == (received && touched[0][granule - area + i]));
        CHECK(!!touches(1, granule + i) == touched[1][granule - area + i]);
      }
      CHECK(outcome() == right);
    }
  }
}

/* That the copy is taken shows when an operation starts meanwhile, as another thread's would. */
static APART void start_meanwhile(double *at, int n, uint64_t *bits) {
  FOR(n) {
    at[i] = i;
    bits[5 * i % 16] = ~0ul;
  }
}
static APART void start_going_back(double *at, int n, uint64_t *bits) {
  for (int i = n - 1; i >= 0; i--) {
    at[i] = i;
    bits[5 * i % 16] = ~0ul;
  }
}

static void is_free_of_checks(void (*start)(double *, int, uint64_t *)) {
  double *at = (double *)(area + 1024);
  const int n = OPAQUE(61);
  begin_with(at - 1, 1);
  start(at, n, granules_of(at));
  nothing_else();
  start(at, n, granules_of(at));
  CHECK(touches(1, at) && touches(1, at + n - 1) && !touches(1, at + n));
}

/* That a whole loop is noted, not each access. */
static void is_noted_at_once(void (*loop)(void), size_t size) {
  begin_with(area, 0);
  unwatch(area, sizeof area);
  expose();
  fresh();
  loop();
  CHECK(noted_at_once() >= size);
}

#define TRY(name) try_loop(name, name##_unchecked)

int main(void) {
  p = (double *)(area + 4096 - 200);
  q = (double *)(area + 8192 - 304);
  cells = (struct cell *)(area + 4096 - 9 * sizeof(struct cell));
  TRY(forward), TRY(backward), TRY(reversed), TRY(in_place), TRY(stencil);
  TRY(masked), TRY(masked_load), TRY(strided), TRY(sparse), TRY(over_a_page), TRY(members), TRY(pointers);
  TRY(up_to_the_end), TRY(including_the_end);
  TRY(unsigned_indices), TRY(narrow_indices), TRY(wrapping_indices);
  TRY(exit_in_the_middle), TRY(searching), TRY(none), TRY(one), TRY(few), TRY(gathered);
  TRY(never_there), TRY(nested);
  TRY(words), TRY(bytes), TRY(every_other_word), TRY(every_other_back), TRY(upwards_by_three);
  TRY(up_to_a_word), TRY(half_of_them), TRY(first_half), TRY(leaving_early), TRY(twice_a_line);
  TRY(matrix), TRY(triangle), TRY(not_at_all);
#ifdef NOTED_AT_ONCE
  p = (double *)area;
  is_noted_at_once(forward, 48 * 8), is_noted_at_once(backward, 48 * 8);
  is_noted_at_once(up_to_the_end, 48 * 8);
#endif
#ifdef FREE_OF_CHECKS
  is_free_of_checks(start_meanwhile), is_free_of_checks(start_going_back);
#endif
  return finish();
}
