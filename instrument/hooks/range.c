/* Range accesses: gcc's structure copies, clang's memory intrinsics, and the wrappers of wrap.h. */
#include "hooks.h"

#include "note.h"

#include <errno.h>

__attribute__((noinline, cold)) void commsan_report(uintptr_t addr, size_t size, int write,
                                                    const char *by, const void *pc,
                                                    const void *frame) {
  if (commsan_disagrees) return;
  int error = errno;
  COMMSAN_ABI->access(addr, size, write, by, pc, frame);
  errno = error;
}

__attribute__((noinline, cold)) void commsan_look(uintptr_t addr, size_t size, int write,
                                                  const void *pc, const void *frame) {
  if (must_note(addr, size, write, NULL, pc))
    commsan_report(addr, size, write | COMMSAN_NOTE, NULL, pc, frame);
  if (granules_hit(addr, size, write)) commsan_report(addr, size, write, NULL, pc, frame);
}

void commsan_check(const void *p, size_t size, int write, const char *by, const void *pc) {
  if (size == 0 || COMMSAN_ABI->live == 0) return;
  uintptr_t addr = (uintptr_t)p;
  uintptr_t last = (addr + size - 1) >> COMMSAN_PAGE_SHIFT;
  for (uintptr_t page = addr >> COMMSAN_PAGE_SHIFT; page <= last; page++)
    if (filter_hits(page << COMMSAN_PAGE_SHIFT, write)) {
      commsan_note_range(addr, size, write, by, pc);
      commsan_report(addr, size, write, by, pc, caller_frame);
      return;
    }
}

HOOK void __tsan_read_range(void *p, size_t size) { commsan_check(p, size, 0, NULL, CALLER_PC); }
HOOK void __tsan_write_range(void *p, size_t size) { commsan_check(p, size, 1, NULL, CALLER_PC); }
HOOK void __tsan_read_range_pc(void *p, size_t size, void *pc) { commsan_check(p, size, 0, NULL, pc); }
HOOK void __tsan_write_range_pc(void *p, size_t size, void *pc) { commsan_check(p, size, 1, NULL, pc); }
