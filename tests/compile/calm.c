/* Functions and loops that start nothing: they run without checks while no operation is live and
 * there are no other threads, and with all of them otherwise. */
#include "harness.h"

#define APART __attribute__((noinline, noclone))

enum { N = 50 };

static double *p;
static int chosen[N];
static double sum;

/* A whole function, through an index. */
static APART double gathered(const double *from, const int *index, int n) {
  double all = 0;
  for (int i = 0; i < n; i++) all += from[index[i]] * from[index[n - 1 - i]];
  return all;
}

/* Functions that call each other. */
static APART double alternately(const double *from, int n);
static APART double backwards(const double *from, int n) {
  return n < 0 ? 0 : from[n] + from[n / 2] + alternately(from, n - 2);
}
static APART double alternately(const double *from, int n) {
  return n < 0 ? 0 : from[n] - from[n / 3] + backwards(from, n - 1);
}

/* Nobody knows what it calls. */
static void nothing(void) {}
static void goes_live(void) { set_live(1); }
static void (*volatile unknown)(void) = nothing;

/* Two loops, and between them something that may start an operation. */
static APART double around_a_call(double *at, const int *index, int n) {
  double before = 0, after = 0;
  for (int i = 0; i < n; i++) before += at[index[i]] + at[index[n - 1 - i] / 2];
  unknown();
  for (int i = 0; i < n; i++) {
    after += at[index[i]] * at[index[n - 1 - i] / 2];
    if (after < 0) break;
  }
  return before + after;
}

/* Not to be left without checks, whatever is live when it begins. */
static APART void after_a_call(double *at, const int *index) {
  unknown();
  at[index[0]] = at[index[1]] + at[index[2]];
}

static APART __attribute__((no_sanitize("thread"))) void prepare(int live) {
  begin();
  for (int i = 0; i < N; i++) p[i] = i, chosen[i] = i * 7 % N;
  unknown = nothing;
  set_live(live);
}

#define EACH(check)                                                                                \
  check(gathered(p, chosen, OPAQUE(N)));                                                           \
  check(backwards(p, OPAQUE(N - 1)));                                                              \
  check(around_a_call(p, chosen, OPAQUE(N)))

/* All use this element, of a loop not in its first or last iterations, which may be code of their
 * own. */
#define IN_THE_MIDDLE (p + 35)

#define IS_CHECKED(run)                                                                            \
  prepare(1), sum += run, CHECK(touches(0, p)), CHECK(touches(0, IN_THE_MIDDLE))
#define IS_FREE(run) prepare(0), sum += run, CHECK(!touches(0, IN_THE_MIDDLE))
/* What another thread starts meanwhile is seen by checks alone. */
#define IS_CHECKED_BESIDE_THREADS(run)                                                             \
  prepare(0), set_parallel(1), sum += run, set_parallel(0), CHECK(touches(0, IN_THE_MIDDLE))

int main(void) {
  p = (double *)area;
  EACH(IS_CHECKED);
  EACH(IS_CHECKED_BESIDE_THREADS);
#ifdef FREE_OF_CHECKS
  EACH(IS_FREE);
#endif
  prepare(0), unknown = goes_live;
  sum += around_a_call(p, chosen, OPAQUE(N));
  CHECK(touches(0, p) && touches(0, IN_THE_MIDDLE));
  prepare(0);
  after_a_call(p, chosen);
  CHECK(touches(1, p) && touches(0, p + 7) && touches(0, p + 14));
  end();
  return finish();
}
