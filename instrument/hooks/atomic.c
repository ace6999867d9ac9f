/* Atomic operations: checked as accesses, and then performed here, since the compilers leave the
 * operation itself to the runtime.
 *
 * Loads, stores and fences obey the order passed at run time. A read-modify-write is one locked
 * instruction on x86-64, the same for every order, so these are written as sequentially consistent;
 * for the same reason, a compare-exchange needs no failure order. 16-byte operations use cmpxchg16b
 * inline, so that libatomic is not needed.
 */
#include "hooks.h"

#define SEQ_CST __ATOMIC_SEQ_CST

/* gcc may add hints in the bits above the order. */
#define ORDER(order) ((order) & 0x7f)

/* Reports a synchronisation of threads or ranks to the runtime, while there are several. */
HOOK void __commsan_synchronise(const volatile void *p, int kind) {
  if (COMMSAN_ABI->parallel && COMMSAN_ABI->synchronise && !commsan_disagrees)
    COMMSAN_ABI->synchronise((uintptr_t)p, kind);
}

static inline void acquire(const volatile void *p, int order) {
  __commsan_synchronise(p, ORDER(order) == __ATOMIC_RELAXED ? COMMSAN_ATOMIC
                                                            : COMMSAN_ATOMIC | COMMSAN_ACQUIRE);
}

static inline void release(const volatile void *p, int order) {
  __commsan_synchronise(p, ORDER(order) == __ATOMIC_RELAXED ? COMMSAN_ATOMIC
                                                            : COMMSAN_ATOMIC | COMMSAN_RELEASE);
}

#define CHECK(p, write)                                                                            \
  do {                                                                                             \
    if (hits_aligned(p, write))                                                                    \
      commsan_look((uintptr_t)(p), sizeof *(p), write, CALLER_PC, caller_frame);                   \
  } while (0)

#define COMPARE_EXCHANGE(bits, T, kind)                                                            \
  HOOK int __tsan_atomic##bits##_compare_exchange_##kind(volatile T *p, T *expected, T desired,    \
                                                    int success, int failure) {                    \
    (void)failure;                                                                                 \
    CHECK(p, 1);                                                                                   \
    release(p, success);                                                                           \
    T found = __sync_val_compare_and_swap(p, *expected, desired);                                  \
    acquire(p, success);                                                                           \
    if (found == *expected) return 1;                                                              \
    *expected = found;                                                                             \
    return 0;                                                                                      \
  }

#define COMPARE_EXCHANGES(bits, T)                                                                 \
  COMPARE_EXCHANGE(bits, T, strong)                                                                \
  COMPARE_EXCHANGE(bits, T, weak)                                                                  \
  HOOK T __tsan_atomic##bits##_compare_exchange_val(volatile T *p, T expected, T desired, int success,  \
                                               int failure) {                                      \
    (void)failure;                                                                                 \
    CHECK(p, 1);                                                                                   \
    release(p, success);                                                                           \
    T found = __sync_val_compare_and_swap(p, expected, desired);                                   \
    acquire(p, success);                                                                           \
    return found;                                                                                  \
  }

#define FETCH(bits, T, name)                                                                       \
  HOOK T __tsan_atomic##bits##_fetch_##name(volatile T *p, T v, int order) {                       \
    CHECK(p, 1);                                                                                   \
    release(p, order);                                                                             \
    T before = __atomic_fetch_##name(p, v, SEQ_CST);                                               \
    acquire(p, order);                                                                             \
    return before;                                                                                 \
  }

#define ATOMICS(bits, T)                                                                           \
  HOOK T __tsan_atomic##bits##_load(const volatile T *p, int order) {                              \
    CHECK(p, 0);                                                                                   \
    T found;                                                                                       \
    switch (ORDER(order)) {                                                                        \
    case __ATOMIC_RELAXED: return __atomic_load_n(p, __ATOMIC_RELAXED);                            \
    case __ATOMIC_CONSUME:                                                                         \
    case __ATOMIC_ACQUIRE: found = __atomic_load_n(p, __ATOMIC_ACQUIRE); break;                    \
    default: found = __atomic_load_n(p, SEQ_CST);                                                  \
    }                                                                                              \
    acquire(p, order);                                                                             \
    return found;                                                                                  \
  }                                                                                                \
  HOOK void __tsan_atomic##bits##_store(volatile T *p, T v, int order) {                           \
    CHECK(p, 1);                                                                                   \
    release(p, order);                                                                             \
    switch (ORDER(order)) {                                                                        \
    case __ATOMIC_RELAXED: __atomic_store_n(p, v, __ATOMIC_RELAXED); break;                        \
    case __ATOMIC_RELEASE: __atomic_store_n(p, v, __ATOMIC_RELEASE); break;                        \
    default: __atomic_store_n(p, v, SEQ_CST);                                                      \
    }                                                                                              \
  }                                                                                                \
  HOOK T __tsan_atomic##bits##_exchange(volatile T *p, T v, int order) {                           \
    CHECK(p, 1);                                                                                   \
    release(p, order);                                                                             \
    T before = __atomic_exchange_n(p, v, SEQ_CST);                                                 \
    acquire(p, order);                                                                             \
    return before;                                                                                 \
  }                                                                                                \
  FETCH(bits, T, add)                                                                              \
  FETCH(bits, T, sub)                                                                              \
  FETCH(bits, T, and)                                                                              \
  FETCH(bits, T, or)                                                                               \
  FETCH(bits, T, xor)                                                                              \
  FETCH(bits, T, nand)                                                                             \
  COMPARE_EXCHANGES(bits, T)

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

/* The __atomic builtins of 16 bytes call libatomic; the older __sync builtins stay inline. */
typedef unsigned __int128 wide;

#define WIDE_UPDATE(name, next)                                                                    \
  HOOK wide __tsan_atomic128_##name(volatile wide *p, wide v, int order) {                         \
    CHECK(p, 1);                                                                                   \
    release(p, order);                                                                             \
    wide old = *p; /* may be torn; then the exchange fails and gives the true value */             \
    for (wide found; (found = __sync_val_compare_and_swap(p, old, next)) != old;) old = found;     \
    acquire(p, order);                                                                             \
    return old;                                                                                    \
  }

WIDE_UPDATE(exchange, v)
WIDE_UPDATE(fetch_add, old + v)
WIDE_UPDATE(fetch_sub, old - v)
WIDE_UPDATE(fetch_and, old & v)
WIDE_UPDATE(fetch_or, old | v)
WIDE_UPDATE(fetch_xor, old ^ v)
WIDE_UPDATE(fetch_nand, ~(old & v))
COMPARE_EXCHANGES(128, wide)

HOOK wide __tsan_atomic128_load(const volatile wide *p, int order) {
  CHECK(p, 0);
  wide found = __sync_val_compare_and_swap((volatile wide *)p, 0, 0);
  acquire(p, order);
  return found;
}

HOOK void __tsan_atomic128_store(volatile wide *p, wide v, int order) {
  CHECK(p, 1);
  release(p, order);
  for (wide old = *p, found; (found = __sync_val_compare_and_swap(p, old, v)) != old;) old = found;
}

HOOK void __tsan_atomic_thread_fence(int order) {
  if (ORDER(order) != __ATOMIC_RELAXED)
    __commsan_synchronise(NULL, COMMSAN_ACQUIRE | COMMSAN_RELEASE);
  switch (ORDER(order)) {
  case __ATOMIC_RELAXED: break;
  case __ATOMIC_CONSUME:
  case __ATOMIC_ACQUIRE: __atomic_thread_fence(__ATOMIC_ACQUIRE); break;
  case __ATOMIC_RELEASE: __atomic_thread_fence(__ATOMIC_RELEASE); break;
  case __ATOMIC_ACQ_REL: __atomic_thread_fence(__ATOMIC_ACQ_REL); break;
  default: __atomic_thread_fence(SEQ_CST);
  }
}

/* The call itself prevents the compiler from moving accesses across it. */
HOOK void __tsan_atomic_signal_fence(int order) { (void)order; }
