/* Entry points that gcc and clang call before plain loads and stores (-fsanitize=thread).
 *
 * These are the hottest instructions of a checked program: shift, mask, test one filter byte,
 * return. They must have no prologue and no state; inspect the disassembly after every change here.
 */
#include "hooks.h"

#define HOOKS(name, size, write, hits)                                                             \
  HOOK void __tsan_##name##size(void *p) {                                                         \
    if (hits) return write ? report_write(p, size) : report_read(p, size);                         \
  }                                                                                                \
  HOOK void __tsan_##name##size##_pc(void *p, void *pc) {                                          \
    if (hits) commsan_look((uintptr_t)p, size, write, pc, caller_frame);                           \
  }

/* Older programs synchronise by volatile variables. */
#define TELL(p)                                                                                    \
  do {                                                                                             \
    if (__builtin_expect(COMMSAN_ABI->parallel != 0, 0))                                           \
      __commsan_synchronise(p, COMMSAN_BROADCAST);                                                 \
  } while (0)

#define VOLATILE_WRITE(name, size, hits)                                                           \
  HOOK void __tsan_##name##size(void *p) {                                                         \
    TELL(p);                                                                                       \
    if (hits) return report_write(p, size);                                                        \
  }                                                                                                \
  HOOK void __tsan_##name##size##_pc(void *p, void *pc) {                                          \
    TELL(p);                                                                                       \
    if (hits) commsan_look((uintptr_t)p, size, 1, pc, caller_frame);                               \
  }

#define ALIGNED(name, size, write) HOOKS(name, size, write, hits_aligned(p, write))
#define UNALIGNED(name, size, write)                                                               \
  HOOKS(unaligned_##name, size, write, hits_unaligned(p, size, write))

/* A compound `read_write` conflicts with everything that its write conflicts with. */
#define KINDS(SHAPE, size)                                                                         \
  SHAPE(read, size, 0)                                                                             \
  SHAPE(write, size, 1)                                                                            \
  SHAPE(read_write, size, 1)                                                                       \
  SHAPE(volatile_read, size, 0)

KINDS(ALIGNED, 1)
KINDS(ALIGNED, 2)
KINDS(ALIGNED, 4)
KINDS(ALIGNED, 8)
KINDS(ALIGNED, 16)
KINDS(UNALIGNED, 2)
KINDS(UNALIGNED, 4)
KINDS(UNALIGNED, 8)
KINDS(UNALIGNED, 16)

#define VOLATILE(size) VOLATILE_WRITE(volatile_write, size, hits_aligned(p, 1))
#define UNALIGNED_VOLATILE(size)                                                                   \
  VOLATILE_WRITE(unaligned_volatile_write, size, hits_unaligned(p, size, 1))

VOLATILE(1)
VOLATILE(2)
VOLATILE(4)
VOLATILE(8)
VOLATILE(16)
UNALIGNED_VOLATILE(2)
UNALIGNED_VOLATILE(4)
UNALIGNED_VOLATILE(8)
UNALIGNED_VOLATILE(16)

HOOK void __tsan_vptr_read(void **object) {
  if (hits_aligned(object, 0)) report_read(object, sizeof *object);
}

HOOK void __tsan_vptr_update(void **object, void *table) {
  (void)table;
  if (hits_aligned(object, 1)) report_write(object, sizeof *object);
}
