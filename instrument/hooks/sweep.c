/* Records ranges: accesses of loops and of libc functions. */
#include "note.h"

/* Sets whole granules of one page to a code location; overwrites all older entries. */
static void fill(uint32_t *cell, size_t count, uint32_t now) {
  typedef uint32_t cells __attribute__((vector_size(16), aligned(4), may_alias));
  const cells four = {now, now, now, now};
  for (; count >= 4; count -= 4, cell += 4) *(cells *)cell = four;
  for (; count; count--, cell++) __atomic_store_n(cell, now, __ATOMIC_RELAXED);
}

/* Records a range within one page; returns false if the runtime must record it. */
static bool note_in_page(uintptr_t addr, uintptr_t end, int write, const char *by, const void *pc) {
  const uintptr_t first = (addr + 7) & -8ul, last = end & -8ul;
  const uint32_t number = known_place(by, pc);
  if (!number) return false;
  if (first >= last) return note_as(number, addr, end - addr, write);
  fill(cell_of(first, write), (last - first) >> COMMSAN_GRANULE_SHIFT, number << 8 | 0xff);
  mark_changed(first);
  return note_as(number, addr, first - addr, write) && note_as(number, last, end - last, write);
}

void commsan_note_range(uintptr_t addr, size_t size, int write, const char *by, const void *pc) {
  if (!COMMSAN_ABI->cells) return;
  for (uintptr_t end = addr + size, next; addr < end; addr = next) {
    next = (addr | ((1ul << COMMSAN_PAGE_SHIFT) - 1)) + 1;
    if (next > end) next = end;
    if (is_exposed(addr) && !note_in_page(addr, next, write, by, pc))
      commsan_report(addr, next - addr, write | COMMSAN_NOTE, by, pc, caller_frame);
  }
}

static inline __attribute__((always_inline)) void sweep(uintptr_t first, uint64_t times, int64_t step,
                                                        size_t size, int write, const void *pc) {
  if (!times || !COMMSAN_ABI->cells || commsan_disagrees) return;
  if (step < 0) {
    first += (times - 1) * step;
    step = -step;
  }
  if ((size_t)step <= size)
    return commsan_note_range(first, (times - 1) * step + size, write, NULL, pc);
  for (; times; times--, first += step)
    if (must_note(first, size, write, NULL, pc))
      commsan_report(first, size, write | COMMSAN_NOTE, NULL, pc, caller_frame);
}

/* A loop that has found its ranges clear is about to access `size` bytes in each of `times`
 * iterations, first at `first`, and then every `step` bytes. Nothing in the loop synchronises, so
 * all accesses happen in one segment of time, and can be recorded now. */
HOOK void __commsan_read_sweep(uintptr_t first, uint64_t times, int64_t step, size_t size) {
  sweep(first, times, step, size, 0, CALLER_PC);
}

HOOK void __commsan_write_sweep(uintptr_t first, uint64_t times, int64_t step, size_t size) {
  sweep(first, times, step, size, 1, CALLER_PC);
}
