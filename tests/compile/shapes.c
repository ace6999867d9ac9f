/* Accesses of every shape that gcc knows: each of their bytes is reported, and no other. */
#include "harness.h"

#include <alloca.h>
#include <complex.h>
#include <stdint.h>
#include <string.h>

#define APART __attribute__((noinline, noclone))

struct medium {
  int values[10];
};
struct large {
  int values[200];
};
struct bits {
  unsigned a : 3, b : 21, c : 8;
};

/* Scalars. */
static APART long double load_long_double(long double *p) { return *p; }
static APART void store_long_double(long double *p, long double v) { *p = v; }
static APART double complex load_complex(double complex *p) { return *p; }
static APART void store_complex(float complex *p, float complex v) { *p = v; }
static APART double real_part(double complex *p) { return creal(*p); }
static APART void set_bits(struct bits *p, unsigned v) { p->b = v; }
static APART unsigned get_bits(struct bits *p) { return p->c; }
static APART __int128 load_wide(__int128 *p) { return *p; }

static volatile double sink;

static void scalars(void) {
  begin();
  memset(area, 0, 256);
  begin();
  sink = load_long_double((void *)area);
  cover_read(area, 10);
  store_long_double((void *)(area + 16), 1.5L);
  cover_write(area + 16, 10);
  sink = load_complex((void *)(area + 32));
  cover_read(area + 32, 16);
  sink = real_part((void *)(area + 32));
  cover_read(area + 32, 8);
  store_complex((void *)(area + 64), 2.5f);
  cover_write(area + 64, 8);
  sink = load_wide((void *)(area + 48));
  cover_read(area + 48, 16);
  sink = get_bits((void *)area);
  cover_read(area + 3, 1);
  nothing_else();
  set_bits((void *)area, 77);
  CHECK(touches(1, area) && touches(1, area + 2) && !touches(1, area + 4));
  begin();
}

/* Aggregates. */
static APART struct large make_large(int v) {
  struct large l;
  for (int i = 0; i < 200; i++) l.values[i] = v;
  return l;
}
static APART struct medium make_medium(int v) { return (struct medium){{v, v}}; }
static APART int sum_large(struct large l) { return l.values[0] + l.values[199]; }
static APART int sum_medium(struct medium m) { return m.values[0] + m.values[9]; }
static APART void store_large(struct large *p) { *p = make_large(3); }
static APART void store_medium(struct medium *p) { *p = make_medium(3); }
static APART int pass_large(struct large *p) { return sum_large(*p); }
static APART int pass_medium(struct medium *p) { return sum_medium(*p); }
static APART void copy_large(struct large *to, struct large *from) { *to = *from; }
static APART void copy_medium(struct medium *to, struct medium *from) { *to = *from; }
static APART void clear_large(struct large *p) { *p = (struct large){{0}}; }
static APART void clear_medium(struct medium *p) { *p = (struct medium){{0}}; }
static APART int to_local(struct large *p, int i) {
  struct large l = *p;
  l.values[i] = 1;
  return l.values[i / 2];
}
struct open {
  int n;
  double values[];
};
static APART void store_last(struct open *p) { p->values[p->n] = 1; }

static void aggregates(void) {
  struct large *a = (void *)area, *b = (void *)(area + 4000);
  struct medium *m = (void *)area, *n = (void *)(area + 4080);
  begin();
  store_large(a);
  cover_write(a, sizeof *a);
  store_medium(n);
  cover_write(n, sizeof *n);
  nothing_else();
  CHECK(pass_large(a) == 6);
  cover_read(a, sizeof *a);
  CHECK(pass_medium(n) == 3);
  cover_read(n, sizeof *n);
  copy_large(b, a);
  expect_read(a, sizeof *a, NULL);
  expect_write(b, sizeof *b, NULL);
  nothing_else(); /* one report, whatever the copy has become */
  copy_medium(n, m);
  cover_read(m, sizeof *m);
  cover_write(n, sizeof *n);
  clear_large(b);
  expect_write(b, sizeof *b, NULL);
  clear_medium(n);
  cover_write(n, sizeof *n);
  CHECK(to_local(a, OPAQUE(7)) == 3);
  CHECK(touches(0, a));
  begin();
  struct open *open = (void *)area;
  OPAQUE(open)->n = 2;
  store_last(OPAQUE(open));
  CHECK(touches(1, area + 24) && touches(1, area + 31) && !touches(1, area + 32));
  begin();
}

/* Calls that gcc would expand in place. */
static APART void copy_24(char *to, const char *from) { __builtin_memcpy(to, from, 24); }
static APART void copy_200(char *to, const char *from) { __builtin_memcpy(to, from, 200); }
static APART void move_24(char *to, const char *from) { __builtin_memmove(to, from, 24); }
static APART void clear_40(char *to) { __builtin_memset(to, 0, 40); }
static APART void fill_40(char *to) { __builtin_memset(to, 7, 40); }
static APART int same_8(const char *a, const char *b) { return __builtin_memcmp(a, b, 8) == 0; }
static APART int is_word(const char *a) { return __builtin_strcmp(a, "word") == 0; }
static APART void copy_text(char *to) { __builtin_strcpy(to, "fourteen bytes"); }
static APART char *after_copy(char *to, const char *from) { return __builtin_mempcpy(to, from, 33); }

static void calls(void) {
  char other[256] = "word";
  OPAQUE(&other[0]);
  begin();
  copy_24(area + 1, other);
  cover_write(area + 1, 24);
  copy_24(other, area + 4090);
  cover_read(area + 4090, 24);
  copy_200(area + 3, other);
  expect_write(area + 3, 200, "memcpy");
  nothing_else();
  move_24(area + 1, area + 4);
  cover_write(area + 1, 24);
  cover_read(area + 4, 24);
  clear_40(area + 2);
  cover_write(area + 2, 40);
  fill_40(area + 2);
  cover_write(area + 2, 40);
  CHECK(same_8(area + 2, area + 3));
  CHECK(touches(0, area + 2) && touches(0, area + 10) && !touches(0, area + 11));
  begin();
  CHECK(!is_word(area));
  CHECK(touches(0, area));
  begin();
  copy_text(area + 7);
  cover_write(area + 7, 15);
  CHECK(after_copy(area, other) == area + 33);
  cover_write(area, 33);
  nothing_else();
}

/* Atomics stay the instructions they are. */
static void atomics(void) {
  long *p = (long *)area, old = 0;
  int *i = (int *)(area + 64);
  begin();
  CHECK(__sync_fetch_and_add(OPAQUE(p), 2) == 0x7878787878787878);
  expect_write(p, 8, NULL);
  CHECK(__atomic_load_n(OPAQUE(p), __ATOMIC_ACQUIRE) == 0x787878787878787a);
  expect_read(p, 8, NULL);
  __atomic_store_n(OPAQUE(i), 5, __ATOMIC_RELEASE);
  expect_write(i, 4, NULL);
  old = 4;
  CHECK(!__atomic_compare_exchange_n(OPAQUE(p), &old, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  CHECK(old == 0x787878787878787a);
  expect_write(p, 8, NULL);
  CHECK(__sync_bool_compare_and_swap(OPAQUE(i), 5, 6));
  expect_write(i, 4, NULL);
  if (__atomic_fetch_or(OPAQUE(i), 16, __ATOMIC_RELAXED) & 16) CHECK(0);
  expect_write(i, 4, NULL);
  if (__atomic_sub_fetch(OPAQUE(i), 22, __ATOMIC_RELAXED) != 0) CHECK(0);
  expect_write(i, 4, NULL);
  CHECK(!__atomic_test_and_set(area + 70, __ATOMIC_SEQ_CST) || 1);
  expect_write(area + 70, 1, NULL);
  __sync_lock_release(OPAQUE(i));
  expect_write(i, 4, NULL);
  nothing_else();
}

/* Operands of assembly. */
static APART int by_assembly(int *from, int *to) {
  int result;
  __asm__("movl %2, %0\n\tmovl %0, %1" : "=&r"(result), "=m"(*to) : "m"(*from));
  return result;
}

static void assembly(void) {
  begin();
  CHECK(by_assembly((int *)(area + 4), (int *)(area + 8)) == 0x78787878);
  expect_read(area + 4, 4, NULL);
  expect_write(area + 8, 4, NULL);
  nothing_else();
}

/* Memory on the stack that others know of. */
static APART int variable_length(int n) {
  double vla[n];
  char *more = alloca(n);
  watch(OPAQUE((void *)vla), n * sizeof *vla);
  watch(OPAQUE(more), n);
  vla[n - 1] = 1;
  more[n - 1] = 2;
  unwatch(OPAQUE((void *)vla), n * sizeof *vla);
  unwatch(OPAQUE(more), n);
  return touches(1, &vla[n - 1]) && touches(1, &more[n - 1]);
}

static APART int nested(int n) {
  struct large local;
  void inner(int i) { local.values[i] = i; }
  begin();
  watch(OPAQUE(&local), sizeof local);
  inner(n);
  unwatch(OPAQUE(&local), sizeof local);
  return touches(1, &local.values[n]);
}

static APART void leave_behind(int n) {
  double vla[n];
  left[8] = __builtin_frame_address(0);
  OPAQUE((void *)vla);
}

static void stacks(void) {
  begin();
  CHECK(variable_length(OPAQUE(20)));
  CHECK(nested(OPAQUE(5)));
  watch_returns(1);
  leave_behind(OPAQUE(9));
  watch_returns(0);
  CHECK(left_count == 1 && left[0] == left[8]);
}

/* Loops, which become vectors. */
#define FOR(n) for (int i = 0; i < (n); i++)
static APART void reversed(int *p, const int *q, int n) { FOR(n) p[i] = q[n - 1 - i]; }
static APART void strided(double *p, const double *q, int n) { FOR(n) p[i] = q[2 * i]; }
static APART void narrowed(char *p, const int *q, int n) { FOR(n) p[i] = q[i]; }
static APART void gathered(double *p, const double *q, const int *at, int n) { FOR(n) p[i] = q[at[i]]; }
static APART void chosen(double *p, const double *q, const int *c, int n) {
  FOR(n) if (c[i]) p[i] = q[i];
}
static APART double summed(const float *p, int n) {
  double sum = 0;
  FOR(n) sum += p[i];
  return sum;
}
static APART void shifted(double *restrict p, const double *restrict q, int n) {
  for (int i = 1; i < n - 1; i++) p[i] = q[i - 1] + q[i] + q[i + 1];
}

static void loops(void) {
  int *ints = (int *)area, numbers[101];
  double *doubles = (double *)(area + 4096), other[101] = {0};
  OPAQUE(&numbers[0]), OPAQUE(&other[0]);
  FOR(101) numbers[i] = 3 * i;
  begin();
  reversed(ints, numbers, 101);
  cover_write(ints, 404);
  reversed(numbers, ints, 37);
  cover_read(ints, 148);
  strided(doubles, other, 50);
  cover_write(doubles, 400);
  narrowed(area + 5, numbers, 99);
  cover_write(area + 5, 99);
  narrowed((char *)other, (int *)(area + 8), 99);
  cover_read(area + 8, 396);
  sink = summed((float *)(area + 4), 77);
  cover_read(area + 4, 308);
  shifted(doubles, other, 101);
  cover_write(doubles + 1, 99 * 8);
  shifted(other, doubles, 101);
  cover_read(doubles, 101 * 8);
  nothing_else();

  FOR(101) numbers[i] = 3 * i % 40;
  begin();
  gathered(other, doubles, numbers, 19);
  FOR(60) {
    int used = 0;
    for (int k = 0; k < 19; k++) used |= numbers[k] == i;
    CHECK(!!touches(0, doubles + i) == used);
  }
  FOR(101) numbers[i] = i % 3 == 0;
  begin();
  chosen(doubles, other, numbers, 70);
  FOR(80) CHECK(!!touches(1, doubles + i) == (i < 70 && i % 3 == 0));
  begin();
  chosen(other, doubles, numbers, 70);
  FOR(80) if (i % 3 == 0) CHECK(!!touches(0, doubles + i) == (i < 70));
  begin();
}

int main(void) {
  scalars();
  aggregates();
  calls();
  atomics();
  assembly();
  stacks();
  loops();
  return finish();
}
