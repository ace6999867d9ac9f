/* Entry points that gcc and clang call before plain loads and stores (-fsanitize=thread).
 *
 * These are the hottest instructions of a checked program: shift, mask, test one filter byte,
 * return. No prologue, no state, nothing else; look at the disassembly after every change here.
 */
#include "hooks.h"

#define HOOKS(name, size, write, hits)                                                             \
  HOOK void __tsan_##name##size(void *p) {                                                         \
    if (hits) return write ? report_write(p, size) : report_read(p, size);                         \
  }                                                                                                \
  HOOK void __tsan_##name##size##_pc(void *p, void *pc) {                                          \
    if (hits) commsan_look((uintptr_t)p, size, write, pc, caller_frame);                           \
  }

/* Programs of old wait for each other by volatile variables. */
#define VOLATILE_WRITE(size)                                                                       \
  HOOK void __tsan_volatile_write##size(void *p) {                                                 \
    if (__builtin_expect(COMMSAN_ABI->parallel != 0, 0)) __commsan_synchronise(p, COMMSAN_BROADCAST); \
    if (hits_aligned(p, 1)) return report_write(p, size);                                          \
  }                                                                                                \
  HOOK void __tsan_unaligned_volatile_write##size(void *p) {                                       \
    if (__builtin_expect(COMMSAN_ABI->parallel != 0, 0)) __commsan_synchronise(p, COMMSAN_BROADCAST); \
    if (hits_unaligned(p, size, 1)) return report_write(p, size);                                  \
  }

#define ALIGNED(name, size, write) HOOKS(name, size, write, hits_aligned(p, write))
#define UNALIGNED(name, size, write)                                                               \
  HOOKS(unaligned_##name, size, write, hits_unaligned(p, size, write))

/* A compound `read_write` conflicts with all that its write conflicts with. */
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

VOLATILE_WRITE(1)
VOLATILE_WRITE(2)
VOLATILE_WRITE(4)
VOLATILE_WRITE(8)
VOLATILE_WRITE(16)

HOOK void __tsan_vptr_read(void **object) {
  if (hits_aligned(object, 0)) report_read(object, sizeof *object);
}

HOOK void __tsan_vptr_update(void **object, void *table) {
  (void)table;
  if (hits_aligned(object, 1)) report_write(object, sizeof *object);
}
