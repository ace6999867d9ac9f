/* Declarations shared by the files of the hooks archive.
 *
 * All code here runs inside the user's functions, so it must have no visible effect: it preserves
 * errno and allocates nothing, and the frame register still holds the frame pointer of the
 * instrumented caller. The archive is compiled with that register fixed for that reason (see
 * Makefile): a hook needs no prologue to know whose access it checks, and stack walks from the
 * runtime find the user's frame directly above.
 */
#ifndef COMMSAN_HOOKS_H
#define COMMSAN_HOOKS_H

#include "commsan_abi.h"
#include "machine.h"

#include <stdbool.h>

register void *caller_frame __asm__(FRAME_REGISTER);

/* gcc knows the __tsan_* names and would export them in spite of -fvisibility=hidden, but each
 * module must call its own. */
#define HOOK __attribute__((visibility("hidden")))

/* Where the accessing code continues; only valid directly in a hook or wrapper. */
#define CALLER_PC __builtin_return_address(0)

#pragma GCC visibility push(hidden) /* for uses, too: no detour through the GOT */

/* Maps the header and the filter unless this module has already done so. */
void commsan_map(void);
extern bool commsan_is_mapped;

/* Set if hooks and runtime disagree on the ABI: the checks of this module stay off. */
extern bool commsan_disagrees;

/* Calls the runtime; `pc` and `frame` belong to the instrumented code. */
void commsan_report(uintptr_t addr, size_t size, int write, const char *by, const void *pc,
                    const void *frame);

/* Checks every page of a range and reports the range once. */
void commsan_check(const void *addr, size_t size, int write, const char *by, const void *pc);

/* Whether a function is libc's, and not one of the program with the same name. */
bool commsan_is_libc(const void *function);

/* Reports that threads of the program synchronise. */
void __commsan_synchronise(const volatile void *p, int kind);

#pragma GCC visibility pop

static inline bool filter_hits(uintptr_t addr, int write) {
  uint8_t concern = write ? COMMSAN_CHECK_WRITE : COMMSAN_CHECK_READ;
  return __builtin_expect(
      COMMSAN_FILTER[addr >> COMMSAN_PAGE_SHIFT & COMMSAN_SLOT_MASK] & concern, 0);
}

/* An aligned access of up to 16 bytes lies in one page. */
static inline bool hits_aligned(const volatile void *p, int write) {
  return filter_hits((uintptr_t)p, write);
}

/* `size` is a power of two: an access can straddle two pages only if all bits of the page offset
 * above it are set. */
static inline bool hits_unaligned(const volatile void *p, size_t size, int write) {
  const uintptr_t addr = (uintptr_t)p, offset_bits = (1u << COMMSAN_PAGE_SHIFT) - size;
  return filter_hits(addr, write) || (__builtin_expect(!(~addr & offset_bits), 0) &&
                                      filter_hits(addr + size - 1, write));
}

/* The second level, for pages in which something is pending on some bytes: programs that compute
 * beside a pending halo reach it at every access. `size` is at most 64. */
static inline bool granules_hit(uintptr_t addr, size_t size, int write) {
  const uint64_t(*granules)[2 * COMMSAN_PLANE_WORDS] = COMMSAN_ABI->granules;
  const uintptr_t slot = addr >> COMMSAN_PAGE_SHIFT & COMMSAN_SLOT_MASK;
  const unsigned concern = write ? COMMSAN_CHECK_WRITE : COMMSAN_CHECK_READ;
  const unsigned first = addr >> COMMSAN_GRANULE_SHIFT & 63;
  const unsigned count = ((addr & 7) + size + 7) >> COMMSAN_GRANULE_SHIFT;
  if (!(COMMSAN_FILTER[slot] & concern & ~COMMSAN_EXPOSED) && first + count <= 64) return false;
  if (!granules || COMMSAN_FILTER[slot] & concern & COMMSAN_WHOLE || first + count > 64)
    return true;
  const uint64_t *planes = granules[slot] + (addr >> (COMMSAN_GRANULE_SHIFT + 6) & 7);
  uint64_t bits = __atomic_load_n(planes + COMMSAN_PLANE_WORDS, __ATOMIC_RELAXED);
  if (write) bits |= __atomic_load_n(planes, __ATOMIC_RELAXED);
  return bits >> first & ((1ull << count) - 1);
}

/* Records an access to a page that concerns it, and checks the access by granules. */
__attribute__((visibility("hidden"))) void commsan_look(uintptr_t addr, size_t size, int write,
                                                        const void *pc, const void *frame);

/* Jumped to, not called, so that the return address is still the hook's; to load it before the test
 * would slow down every access that passes. */
static __attribute__((noinline, cold, unused)) void report_read(void *p, size_t size) {
  commsan_look((uintptr_t)p, size, 0, CALLER_PC, caller_frame);
}

static __attribute__((noinline, cold, unused)) void report_write(void *p, size_t size) {
  commsan_look((uintptr_t)p, size, 1, CALLER_PC, caller_frame);
}

#endif
