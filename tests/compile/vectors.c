/* Accesses of every shape: each is reported once, to the byte, lane by lane where lanes can be
 * switched off. For compilers with commsan's plugin; `WIDE` for processors with AVX-512. */
#include "harness.h"

#include <complex.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#define APART static __attribute__((noinline))

/* One load and one store of each type, aligned and not, within a page and across two. */
#define TYPE(name, T)                                                                              \
  APART void store_##name(T *p, T v) { *p = v; }                                                   \
  APART T load_##name(const T *p) { return *p; }                                                   \
  static void try_##name(size_t bytes) {                                                           \
    const size_t places[] = {64, 4096 - sizeof(T), 8192};                                          \
    for (int i = 0; i < 3; i++) {                                                                  \
      T *p = (T *)(area + places[i]);                                                              \
      begin();                                                                                     \
      T v = load_##name(p);                                                                        \
      cover_read(p, bytes);                                                                        \
      store_##name(p, v);                                                                          \
      cover_write(p, bytes);                                                                       \
      nothing_else();                                                                              \
    }                                                                                              \
  }

/* The same where the compiler knows of no alignment. */
#define LOOSE(name, T)                                                                             \
  typedef struct __attribute__((packed)) {                                                         \
    T value;                                                                                       \
  } loose_##name;                                                                                  \
  APART void store_loose_##name(loose_##name *p, T v) { p->value = v; }                            \
  APART T load_loose_##name(const loose_##name *p) { return p->value; }                            \
  static void try_loose_##name(size_t bytes) {                                                     \
    const size_t places[] = {65, 4097 - bytes, 4095, 8191 - bytes / 2};                            \
    for (int i = 0; i < 4; i++) {                                                                  \
      loose_##name *p = (loose_##name *)(area + places[i]);                                        \
      begin();                                                                                     \
      T v = load_loose_##name(p);                                                                  \
      cover_read(p, bytes);                                                                        \
      store_loose_##name(p, v);                                                                    \
      cover_write(p, bytes);                                                                       \
      nothing_else();                                                                              \
    }                                                                                              \
  }

#define VECTOR(name, T, lanes)                                                                     \
  typedef T name __attribute__((ext_vector_type(lanes)));                                          \
  TYPE(name, name)                                                                                 \
  LOOSE(name, name)

TYPE(bool, _Bool)
TYPE(char, char)
TYPE(short, short)
TYPE(int, int)
TYPE(long, long)
TYPE(wide, __int128)
#ifdef __FLT16_MAX__ /* clang 14 has it for processors with AVX512-FP16 only */
TYPE(half, _Float16)
#else
#define try_half try_short
#endif
TYPE(float, float)
TYPE(double, double)
TYPE(extended, long double)
TYPE(pair, float complex)
TYPE(complex, double complex)
TYPE(pointer, void *)
TYPE(changing, volatile int)
LOOSE(short, short)
LOOSE(int, int)
LOOSE(long, long)
LOOSE(double, double)
LOOSE(extended, long double)
VECTOR(bytes16, char, 16)
VECTOR(doubles2, double, 2)
VECTOR(doubles4, double, 4)
VECTOR(doubles8, double, 8)
VECTOR(doubles16, double, 16)
VECTOR(floats2, float, 2)
VECTOR(ints16, int, 16)

static void types(void) {
  try_bool(1), try_char(1), try_short(2), try_int(4), try_long(8), try_wide(16);
  try_half(2), try_float(4), try_double(8), try_extended(10), try_pair(8), try_complex(16);
  try_pointer(8), try_changing(4);
  try_loose_short(2), try_loose_int(4), try_loose_long(8), try_loose_double(8);
  try_loose_extended(10);
  try_bytes16(16), try_doubles2(16), try_doubles4(32), try_doubles8(64), try_doubles16(128);
  try_floats2(8), try_ints16(64);
  try_loose_bytes16(16), try_loose_doubles2(16), try_loose_doubles4(32), try_loose_doubles8(64);
  try_loose_doubles16(128), try_loose_floats2(8), try_loose_ints16(64);
}

/* Copies of a constant size: of structures, and by name. */
#define COPIES(n)                                                                                  \
  struct block##n {                                                                                \
    char bytes[n];                                                                                 \
  };                                                                                               \
  APART void assign##n(struct block##n *to, const struct block##n *from) { *to = *from; }          \
  APART void copy##n(void *to, const void *from) { memcpy(to, from, n); }                          \
  APART void move##n(void *to, const void *from) { memmove(to, from, n); }                         \
  APART void fill##n(void *to) { memset(to, 1, n); }                                               \
  static void try_copies##n(void) {                                                                \
    char *from = area + 4000, *to = area + 8191 - n / 2;                                           \
    begin();                                                                                       \
    assign##n((void *)to, (void *)from);                                                           \
    cover_read(from, n), cover_write(to, n), nothing_else();                                       \
    copy##n(to, from);                                                                             \
    cover_read(from, n), cover_write(to, n), nothing_else();                                       \
    move##n(to, from);                                                                             \
    cover_read(from, n), cover_write(to, n), nothing_else();                                       \
    fill##n(to);                                                                                   \
    cover_write(to, n), nothing_else();                                                            \
  }
COPIES(1) COPIES(3) COPIES(8) COPIES(17) COPIES(33) COPIES(64) COPIES(65) COPIES(100)
COPIES(128) COPIES(129) COPIES(200) COPIES(512) COPIES(5000)

static void copies(void) {
  try_copies1(), try_copies3(), try_copies8(), try_copies17(), try_copies33(), try_copies64();
  try_copies65(), try_copies100(), try_copies128(), try_copies129(), try_copies200();
  try_copies512();
  static struct block5000 other;
  begin();
  assign5000((void *)(area + 100), OPAQUE(&other));
  cover_write(area + 100, 5000);
  nothing_else();
  /* One finding for one copy, which a call names. */
  copy512(area, OPAQUE(&other.bytes[0]));
  expect_write(area, 512, "memcpy");
  copy64(area, OPAQUE(&other.bytes[0]));
  expect_write(area, 64, NULL);
  nothing_else();
}

APART int passed(struct block100 block) { return block.bytes[7]; }
APART int pass(const struct block100 *p) { return OPAQUE(&passed)(*p); }
APART struct block100 made(int c) {
  struct block100 block;
  memset(&block, c, sizeof block);
  return block;
}
APART void make(struct block100 *p) { *p = made(3); }

static void arguments(void) {
  begin();
  CHECK(pass((void *)(area + 4090)) == 'x');
  cover_read(area + 4090, 100);
  make((void *)(area + 4090));
  cover_write(area + 4090, 100);
  nothing_else();
}

#define ATOMICS(T, bits)                                                                           \
  APART void atomics##bits(_Atomic T *p) {                                                         \
    T seen = atomic_load(p);                                                                       \
    expect_read(p, sizeof *p, NULL);                                                               \
    atomic_store(p, seen);                                                                         \
    expect_write(p, sizeof *p, NULL);                                                              \
    atomic_fetch_add(p, 1);                                                                        \
    expect_write(p, sizeof *p, NULL);                                                              \
    atomic_exchange(p, 1);                                                                         \
    expect_write(p, sizeof *p, NULL);                                                              \
    T expected = 1;                                                                                \
    CHECK(atomic_compare_exchange_strong(p, &expected, 5));                                        \
    expect_write(p, sizeof *p, NULL);                                                              \
    atomic_fetch_or(p, 2);                                                                         \
    expect_write(p, sizeof *p, NULL);                                                              \
    nothing_else();                                                                                \
    end();                                                                                         \
    CHECK(*p == 7);                                                                                \
  }
ATOMICS(uint8_t, 8) ATOMICS(uint16_t, 16) ATOMICS(uint32_t, 32) ATOMICS(uint64_t, 64)

static void atomics(void) {
  begin(), atomics8((void *)area);
  begin(), atomics16((void *)(area + 4094));
  begin(), atomics32((void *)(area + 4092));
  begin(), atomics64((void *)(area + 4096));
}

/* Loops, as the optimizer makes them: vectors, masks, gathers, strides. */
APART void every_other(double *to, const double *from, int n) {
  for (int i = 0; i < n; i++) to[i] = from[2 * i];
}
APART void swap_pairs(double *p, int n) {
  for (int i = 0; i < n; i++) {
    double first = p[2 * i];
    p[2 * i] = p[2 * i + 1];
    p[2 * i + 1] = first;
  }
}
APART void where(double *to, const double *from, const int *mask, int n) {
  for (int i = 0; i < n; i++)
    if (mask[i]) to[i] = from[i];
}
APART double gather(const double *from, const int *at, int n) {
  double sum = 0;
#pragma clang loop vectorize(enable)
  for (int i = 0; i < n; i++) {
#pragma clang fp reassociate(on)
    sum += from[at[i]];
  }
  return sum;
}
APART void scatter(double *restrict to, const int *restrict at, int n) {
#pragma clang loop vectorize(assume_safety)
  for (int i = 0; i < n; i++) to[at[i]] = 1;
}
APART int last_nonzero(const int *p, int n) {
  int last = -1;
  for (int i = 0; i < n; i++)
    if (p[i]) last = i;
  return last;
}
APART long upwards(const char *s) {
  long n = 0;
  while (s[n]) n++;
  return n;
}
APART void downwards(int *p, int n) {
  for (int i = n - 1; i >= 0; i--) p[i] = i;
}
APART void by_columns(double *p, int n, int stride) {
  for (int i = 0; i < n; i++) p[i * stride] += 1;
}

static void loops(void) {
  enum { N = 101 };
  double *doubles = (double *)area, *later = (double *)(area + 8192);
  static double other[4 * N];
  static int at[N];
  begin();
  every_other(OPAQUE(&other[0]), doubles, N);
  for (int i = 0; i < 2 * N; i++) CHECK(!touches(0, doubles + i) == i % 2);
  begin();
  swap_pairs(doubles, N);
  cover_write(doubles, 2 * N * 8);
  for (int i = 0; i < N; i++) at[i] = i % 3 == 0;
  begin();
  where(doubles, OPAQUE(&other[0]), OPAQUE(&at[0]), N);
  for (int i = 0; i < N; i++) CHECK(!touches(1, doubles + i) == (i % 3 != 0));
  begin();
  where(OPAQUE(&other[0]), doubles, OPAQUE(&at[0]), N);
  for (int i = 0; i < N; i++) CHECK(!touches(0, doubles + i) == (i % 3 != 0));
  for (int i = 0; i < N; i++) at[i] = 7 * i % N * 5;
  begin();
  CHECK(gather(doubles, OPAQUE(&at[0]), N) > 1);
  for (int i = 0; i < 5 * N; i++) CHECK(!touches(0, doubles + i) == (i % 5 != 0));
  begin();
  scatter(doubles, OPAQUE(&at[0]), N);
  for (int i = 0; i < 5 * N; i++) CHECK(!touches(1, doubles + i) == (i % 5 != 0));
  begin();
  CHECK(last_nonzero((int *)later, N) == N - 1);
  cover_read(later, N * 4);
  area[4150] = 0;
  begin();
  area[4150] = 0;
  CHECK(upwards(area + 4000) == 150);
  cover_read(area + 4000, 151);
  begin();
  downwards((int *)later, N);
  cover_write(later, N * 4);
  nothing_else();
  begin();
  by_columns(doubles, 20, 60);
  for (int i = 0; i < 20 * 60; i++) CHECK(!touches(1, doubles + i) == (i % 60 != 0));
  end();
}

/* A loop is as exact when only a part of its range is watched. */
static void partly_watched(void) {
  enum { N = 5 * 4096 };
  static int long_array[3 * N] __attribute__((aligned(4096)));
  begin();
  watch(long_array + 2 * N, 4096);
  downwards(OPAQUE(&long_array[0]), 3 * N);
  CHECK(touches(1, long_array + 2 * N) && touches(1, long_array + 2 * N + 1023));
  CHECK(!touches(1, long_array + 2 * N - 1) && !touches(1, long_array + 2 * N + 1024));
  begin();
  CHECK(last_nonzero(OPAQUE(&long_array[0]), 3 * N) == 3 * N - 1);
  CHECK(touches(0, long_array + 2 * N) && touches(0, long_array + 2 * N + 1023));
  CHECK(!touches(0, long_array + 2 * N - 1) && !touches(0, long_array + 2 * N + 1024));
  unwatch(long_array + 2 * N, 4096);
  end();
}

static _Thread_local int own[8];
static int counter;

APART int private_memory(int n) {
  int local[64];
  for (int i = 0; i < 64; i++) local[i] = i * n;
  counter++;
  return local[n & 63] + counter;
}

static void storage(void) {
  begin();
  watch(OPAQUE(&own[0]), sizeof own);
  own[3] = 4;
  CHECK(touches(1, &own[3]));
  unwatch(OPAQUE(&own[0]), sizeof own);
  begin();
  CHECK(private_memory(OPAQUE(3)) == 10);
  nothing_else();
  end();
}

__attribute__((noinline, no_sanitize("thread"))) static void declined(int *p) { *p = 1; }

static void attributes(void) {
  begin();
  declined((int *)area);
  nothing_else();
}

static jmp_buf back;
APART void jumps(int *p) {
  *p = 1;
  longjmp(back, 1);
}
static void jumping(void) {
  begin();
  if (setjmp(back) == 0) jumps((int *)area);
  expect_write(area, 4, NULL);
  *OPAQUE((int *)area) = 2;
  expect_write(area, 4, NULL);
  nothing_else();
  end();
}

#ifdef WIDE
#include <immintrin.h>
static void intrinsics(void) {
  double *p = (double *)(area + 4096 - 16);
  volatile __m256i first_and_last = _mm256_set_epi64x(-1, 0, 0, -1);
  begin();
  __m256d v = _mm256_maskload_pd(p, first_and_last);
  expect_read(p, 8, NULL), expect_read(p + 3, 8, NULL), nothing_else();
  _mm256_maskstore_pd(p, first_and_last, v);
  expect_write(p, 8, NULL), expect_write(p + 3, 8, NULL), nothing_else();
  __m512d w = _mm512_maskz_loadu_pd(OPAQUE((__mmask8)0x42), p);
  expect_read(p + 1, 8, NULL), expect_read(p + 6, 8, NULL), nothing_else();
  _mm512_mask_compressstoreu_pd(p, OPAQUE((__mmask8)0x42), w);
  cover_write(p, 16), nothing_else();
  w = _mm512_maskz_expandloadu_pd(OPAQUE((__mmask8)0xe0), p);
  cover_read(p, 24), nothing_else();
  _mm512_stream_pd((double *)area, w);
  expect_write(area, 64, NULL), nothing_else();
  end();
}
#endif

int main(void) {
  types();
  copies();
  arguments();
  atomics();
  loops();
  partly_watched();
  storage();
  attributes();
  jumping();
#ifdef WIDE
  intrinsics();
#endif
  return finish();
}
