/* Every entry point of the instrumentation ABI, called directly: what it checks, and for atomic
 * operations what it does. Not instrumented itself. */
#include "harness.h"

#include <pthread.h>
#include <stdint.h>

#define ENTRY(name, size, write, at)                                                               \
  {                                                                                                \
    void __tsan_##name##size(void *);                                                              \
    void __tsan_##name##size##_pc(void *, void *);                                                 \
    begin();                                                                                       \
    __tsan_##name##size(area + (at));                                                              \
    expect_at(__LINE__, write, area + (at), size, NULL);                                           \
    CHECK(last_frame == __builtin_frame_address(0));                                               \
    CHECK((uintptr_t)last_pc - (uintptr_t)plain_accesses < 0x10000);                               \
    __tsan_##name##size##_pc(area + (at), (void *)0x1234);                                         \
    expect_at(__LINE__, write, area + (at), size, NULL);                                           \
    CHECK(last_pc == (void *)0x1234);                                                              \
    nothing_else();                                                                                \
    end();                                                                                         \
    __tsan_##name##size(area + (at));                                                              \
    nothing_else();                                                                                \
  }
#define ENTRIES(kind, write)                                                                       \
  ENTRY(kind, 1, write, 3)                                                                         \
  ENTRY(kind, 2, write, 6)                                                                         \
  ENTRY(kind, 4, write, 4)                                                                         \
  ENTRY(kind, 8, write, 4088)                                                                      \
  ENTRY(kind, 16, write, 32)
#define UNALIGNED_ENTRIES(kind, write)                                                             \
  ENTRY(unaligned_##kind, 2, write, 4095)                                                          \
  ENTRY(unaligned_##kind, 4, write, 4093)                                                          \
  ENTRY(unaligned_##kind, 8, write, -4)                                                            \
  ENTRY(unaligned_##kind, 16, write, 3 * 4096 - 1)
#define ALL(kind, write) ENTRIES(kind, write) UNALIGNED_ENTRIES(kind, write)

#define COVERAGE(kind, size, write, at)                                                            \
  {                                                                                                \
    void __sanitizer_cov_##kind##size(void *);                                                     \
    begin();                                                                                       \
    __sanitizer_cov_##kind##size(area + (at));                                                     \
    expect_at(__LINE__, write, area + (at), size, NULL);                                           \
    CHECK(last_frame == __builtin_frame_address(0));                                               \
    CHECK((uintptr_t)last_pc - (uintptr_t)coverage < 0x10000);                                     \
    __sanitizer_cov_##kind##size(area - size);                                                     \
    nothing_else();                                                                                \
  }
#define BOTH_COVERAGES(size, at) COVERAGE(load, size, 0, at) COVERAGE(store, size, 1, at)

static __attribute__((noinline)) void coverage(void) {
  BOTH_COVERAGES(1, 4095)
  BOTH_COVERAGES(2, -1)
  BOTH_COVERAGES(4, 4096)
  BOTH_COVERAGES(8, -7)
  BOTH_COVERAGES(16, 3 * 4096 - 1)
}

static __attribute__((noinline)) void plain_accesses(void) {
  ALL(read, 0)
  ALL(write, 1)
  ALL(read_write, 1)
  ALL(volatile_read, 0)
  ALL(volatile_write, 1)
}

void __tsan_read_range(void *, size_t), __tsan_write_range(void *, size_t);
void __tsan_read_range_pc(void *, size_t, void *), __tsan_write_range_pc(void *, size_t, void *);
void __tsan_vptr_update(void *, void *), __tsan_vptr_read(void *);
void *__tsan_memcpy(void *, const void *, size_t), *__tsan_memmove(void *, const void *, size_t);
void *__tsan_memset(void *, int, size_t);
void __tsan_func_entry(void *), __tsan_func_exit(void);

static void ranges(void) {
  begin();
  __tsan_read_range(area - 5000, 15000);
  expect_read(area - 5000, 15000, NULL);
  __tsan_write_range(area + 4095, 2);
  expect_write(area + 4095, 2, NULL);
  __tsan_write_range(area, 0);
  __tsan_read_range(area - 4096, 4096);
  nothing_else();
  __tsan_read_range_pc(area, 9, (void *)5);
  expect_read(area, 9, NULL);
  CHECK(last_pc == (void *)5);
  __tsan_write_range_pc(area, 9, (void *)6);
  expect_write(area, 9, NULL);
  CHECK(last_pc == (void *)6);
  __tsan_vptr_read(area);
  expect_read(area, 8, NULL);
  __tsan_vptr_update(area, NULL);
  expect_write(area, 8, NULL);
  char other[64] = "a";
  CHECK(__tsan_memcpy(area, other, 64) == area && area[0] == 'a');
  expect_write(area, 64, "memcpy");
  CHECK((uintptr_t)last_pc - (uintptr_t)ranges < 0x10000);
  CHECK(last_frame == __builtin_frame_address(0));
  CHECK(__tsan_memmove(area + 1, area, 64) == area + 1 && area[1] == 'a');
  expect_read(area, 64, "memmove");
  expect_write(area + 1, 64, "memmove");
  CHECK(__tsan_memset(area, 'z', 3) == area && area[2] == 'z');
  expect_write(area, 3, "memset");
  nothing_else();
}

static void returns(void) {
  watch_returns(1);
  __tsan_func_entry((void *)1);
  CHECK(left_count == 0);
  __tsan_func_exit();
  CHECK(left_count == 1 && left[0] == __builtin_frame_address(0));
  watch_returns(0);
  __tsan_func_exit();
  CHECK(left_count == 1);
}

/* Each operation from a known value; all orders; reported as one access of the right kind. */
#define ATOMIC(bits, T)                                                                            \
  T __tsan_atomic##bits##_load(const volatile T *, int);                                           \
  void __tsan_atomic##bits##_store(volatile T *, T, int);                                          \
  T __tsan_atomic##bits##_exchange(volatile T *, T, int);                                          \
  T __tsan_atomic##bits##_fetch_add(volatile T *, T, int);                                         \
  T __tsan_atomic##bits##_fetch_sub(volatile T *, T, int);                                         \
  T __tsan_atomic##bits##_fetch_and(volatile T *, T, int);                                         \
  T __tsan_atomic##bits##_fetch_or(volatile T *, T, int);                                          \
  T __tsan_atomic##bits##_fetch_xor(volatile T *, T, int);                                         \
  T __tsan_atomic##bits##_fetch_nand(volatile T *, T, int);                                        \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T *, T *, T, int, int);               \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T *, T *, T, int, int);                 \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T *, T, T, int, int);                      \
  static void atomic##bits(void) {                                                                 \
    volatile T *p = (volatile T *)(area + 16);                                                     \
    const T a = (T)0x5a5aa5a512345678ull * (T)0x100000001ull + 1, b = (T) ~(a >> 3);               \
    for (int order = __ATOMIC_RELAXED; order <= __ATOMIC_SEQ_CST; order++) {                       \
      begin();                                                                                     \
      __tsan_atomic##bits##_store(p, a, order);                                                    \
      expect_write((void *)p, sizeof(T), NULL);                                                    \
      CHECK(*p == a);                                                                              \
      CHECK(__tsan_atomic##bits##_load(p, order) == a);                                            \
      expect_read((void *)p, sizeof(T), NULL);                                                     \
      nothing_else();                                                                              \
      UPDATE(bits, T, exchange, b)                                                                 \
      UPDATE(bits, T, fetch_add, (T)(a + b))                                                       \
      UPDATE(bits, T, fetch_sub, (T)(a - b))                                                       \
      UPDATE(bits, T, fetch_and, (T)(a & b))                                                       \
      UPDATE(bits, T, fetch_or, (T)(a | b))                                                        \
      UPDATE(bits, T, fetch_xor, (T)(a ^ b))                                                       \
      UPDATE(bits, T, fetch_nand, (T) ~(a & b))                                                    \
      COMPARE(bits, T, strong)                                                                     \
      COMPARE(bits, T, weak)                                                                       \
      *p = a;                                                                                      \
      CHECK(__tsan_atomic##bits##_compare_exchange_val(p, b, 0, order, 0) == a && *p == a);        \
      CHECK(__tsan_atomic##bits##_compare_exchange_val(p, a, b, order, 0) == a && *p == b);        \
      expect_write((void *)p, sizeof(T), NULL);                                                    \
      expect_write((void *)p, sizeof(T), NULL);                                                    \
      nothing_else();                                                                              \
    }                                                                                              \
    CHECK(area[15] == 'x' && area[16 + sizeof(T)] == 'x');                                         \
  }                                                                                                \
  static T counter##bits __attribute__((aligned(16)));                                             \
  static void *count##bits(void *unused) {                                                         \
    for (int i = 0; i < 20000; i++) {                                                              \
      __tsan_atomic##bits##_fetch_add(&counter##bits, 3, i % 6);                                   \
      T seen = __tsan_atomic##bits##_load(&counter##bits, 0);                                      \
      while (!__tsan_atomic##bits##_compare_exchange_weak(&counter##bits, &seen, seen - 1, 5, 5))  \
        ;                                                                                          \
    }                                                                                              \
    return unused;                                                                                 \
  }
#define UPDATE(bits, T, name, result)                                                              \
  *p = a;                                                                                          \
  CHECK(__tsan_atomic##bits##_##name(p, b, order) == a && *p == result);                           \
  expect_write((void *)p, sizeof(T), NULL);                                                        \
  nothing_else();
#define COMPARE(bits, T, kind)                                                                     \
  {                                                                                                \
    T expected = b;                                                                                \
    *p = a;                                                                                        \
    CHECK(!__tsan_atomic##bits##_compare_exchange_##kind(p, &expected, 0, order, order));          \
    CHECK(*p == a && expected == a);                                                               \
    CHECK(__tsan_atomic##bits##_compare_exchange_##kind(p, &expected, b, order, order));           \
    CHECK(*p == b && expected == a);                                                               \
    expect_write((void *)p, sizeof(T), NULL);                                                      \
    expect_write((void *)p, sizeof(T), NULL);                                                      \
    nothing_else();                                                                                \
  }
#define COUNT(bits, T)                                                                             \
  {                                                                                                \
    pthread_t threads[3];                                                                          \
    end();                                                                                         \
    for (int t = 0; t < 3; t++) pthread_create(&threads[t], NULL, count##bits, NULL);              \
    for (int t = 0; t < 3; t++) pthread_join(threads[t], NULL);                                    \
    CHECK(counter##bits == (T)120000);                                                             \
  }

typedef unsigned __int128 wide;
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)
ATOMIC(128, wide)

/* Store buffering: with sequential consistency not both threads may miss the other's store. */
void __tsan_atomic_thread_fence(int), __tsan_atomic_signal_fence(int);
static uint32_t x, y, seen_x, seen_y, with_fence;
static pthread_barrier_t barrier;

static void store_then_load(uint32_t *mine, uint32_t *other, uint32_t *seen) {
  int order = with_fence ? __ATOMIC_RELAXED : __ATOMIC_SEQ_CST;
  __tsan_atomic32_store(mine, 1, order);
  if (with_fence) __tsan_atomic_thread_fence(__ATOMIC_SEQ_CST);
  *seen = __tsan_atomic32_load(other, order);
}

static void *second(void *unused) {
  for (int i = 0; i < 4000; i++) {
    pthread_barrier_wait(&barrier);
    store_then_load(&y, &x, &seen_x);
    pthread_barrier_wait(&barrier);
  }
  return unused;
}

static void sequential_consistency(void) {
  pthread_t thread;
  pthread_barrier_init(&barrier, NULL, 2);
  for (with_fence = 0; with_fence < 2; with_fence++) {
    pthread_create(&thread, NULL, second, NULL);
    for (int i = 0; i < 4000; i++) {
      x = y = 0;
      pthread_barrier_wait(&barrier);
      store_then_load(&x, &y, &seen_y);
      pthread_barrier_wait(&barrier);
      CHECK(seen_x || seen_y);
    }
    pthread_join(thread, NULL);
  }
  for (int order = 0; order < 6; order++)
    __tsan_atomic_thread_fence(order), __tsan_atomic_signal_fence(order);
}

int main(void) {
  plain_accesses();
  coverage();
  ranges();
  returns();
  atomic8();
  atomic16();
  atomic32();
  atomic64();
  atomic128();
  COUNT(8, uint8_t)
  COUNT(16, uint16_t)
  COUNT(32, uint32_t)
  COUNT(64, uint64_t)
  COUNT(128, wide)
  sequential_consistency();
  return finish();
}
