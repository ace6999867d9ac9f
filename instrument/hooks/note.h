/* Records the program's accesses to pages that other ranks may access.
 *
 * Most accesses come from a known code location and overwrite the entry of the previous one: then
 * only a cell has to be written. The runtime handles all other cases.
 */
#ifndef COMMSAN_NOTE_H
#define COMMSAN_NOTE_H

#include "hooks.h"

/* The number of this thread's agent, and its epoch in the upper half. */
static inline uint64_t this_stamp(void) {
  return *(const uint64_t *)((const char *)__builtin_thread_pointer() + COMMSAN_ABI->stamp);
}

/* The number of the code location, or 0 if the runtime must find it. */
static inline uint32_t known_place(const char *by, const void *pc) {
  const uintptr_t at = (uintptr_t)pc;
  const uint64_t stamp = this_stamp();
  const size_t home = (at ^ at >> 12 ^ (uint32_t)stamp * 0x155ul) % COMMSAN_RECENT;
  const uint32_t number = __atomic_load_n(&COMMSAN_ABI->recent[home], __ATOMIC_ACQUIRE);
  const struct commsan_place *place = &COMMSAN_ABI->places[number];
  const bool same = place->pc == pc && place->by == by && !place->older && place->stamp == stamp &&
                    place->segment == __atomic_load_n(&COMMSAN_ABI->segment, __ATOMIC_RELAXED);
  return same ? number : 0;
}

/* The cell of a granule. */
static inline uint32_t *cell_of(uintptr_t at, int write) {
  const size_t half = COMMSAN_CELLS / 2;
  uint32_t *page = COMMSAN_ABI->cells[at >> COMMSAN_PAGE_SHIFT & COMMSAN_SLOT_MASK];
  return page + (write ? half : 0) + (at >> COMMSAN_GRANULE_SHIFT & (half - 1));
}

/* Cells of the page have changed. */
static inline void mark_changed(uintptr_t at) {
  bool *changed = COMMSAN_ABI->changed;
  if (!changed) return;
  const uintptr_t slot = at >> COMMSAN_PAGE_SHIFT & COMMSAN_SLOT_MASK;
  __atomic_store_n(changed + slot, true, __ATOMIC_RELEASE);
  __atomic_store_n(changed + COMMSAN_SLOT_MASK + 1 + (slot >> COMMSAN_BLOCK_SHIFT), true,
                   __ATOMIC_RELEASE);
}

/* Records an access from a code location; returns false if the runtime must record it. */
static inline bool note_as(uint32_t number, uintptr_t addr, size_t size, int write) {
  const uintptr_t end = addr + size;
  for (uintptr_t at = addr & -8ul; at < end; at += 8) {
    const unsigned from = at < addr ? addr - at : 0, to = end - at < 8 ? end - at : 8;
    const uint32_t bytes = 0xffu << from & ((1u << to) - 1);
    uint32_t *cell = cell_of(at, write);
    const uint32_t old = __atomic_load_n(cell, __ATOMIC_RELAXED);
    const uint32_t kept = old >> 8 == number ? old & 0xff : 0;
    if (!kept && old & 0xff & ~bytes &&
        COMMSAN_ABI->places[old >> 8].segment > COMMSAN_ABI->floor)
      return false;
    const uint32_t now = number << 8 | kept | bytes;
    if (now == old) continue;
    __atomic_store_n(cell, now, __ATOMIC_RELAXED);
    mark_changed(at);
  }
  return true;
}

/* Records an access; returns false if the runtime must complete the record. */
static inline bool note_quickly(uintptr_t addr, size_t size, int write, const char *by,
                                const void *pc) {
  const uint32_t number = known_place(by, pc);
  return number && note_as(number, addr, size, write);
}

static inline bool is_exposed(uintptr_t addr) {
  return COMMSAN_FILTER[addr >> COMMSAN_PAGE_SHIFT & COMMSAN_SLOT_MASK] & COMMSAN_EXPOSED;
}

/* Whether the runtime must record an access. */
static inline bool must_note(uintptr_t addr, size_t size, int write, const char *by,
                             const void *pc) {
  if (!is_exposed(addr) && !is_exposed(addr + size - 1)) return false;
  return COMMSAN_ABI->cells && !note_quickly(addr, size, write, by, pc);
}

/* sweep.c: records the parts of a range that lie in exposed pages. */
__attribute__((visibility("hidden"))) void commsan_note_range(uintptr_t addr, size_t size, int write,
                                                              const char *by, const void *pc);

#endif
