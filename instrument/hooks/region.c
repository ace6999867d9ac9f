/* Questions before a loop runs without checks: whether nothing is pending in the memory that it may
 * access. */
#include "note.h"

/* Whether nothing is pending on these granules of a page. */
static bool granules_are_clear(uintptr_t slot, unsigned first, unsigned last, int write) {
  const unsigned concern = write ? COMMSAN_CHECK_WRITE : COMMSAN_CHECK_READ;
  const unsigned byte = COMMSAN_FILTER[slot] & concern & ~COMMSAN_EXPOSED;
  if (!byte) return true;
  if (byte & COMMSAN_WHOLE || !COMMSAN_ABI->granules || commsan_disagrees) return false;
  const uint64_t *planes = COMMSAN_ABI->granules[slot];
  for (unsigned word = first / 64; word <= last / 64; word++) {
    uint64_t bits = __atomic_load_n(planes + COMMSAN_PLANE_WORDS + word, __ATOMIC_RELAXED);
    if (write) bits |= __atomic_load_n(planes + word, __ATOMIC_RELAXED);
    if (word == first / 64) bits &= ~0ull << (first & 63);
    if (word == last / 64) bits &= ~0ull >> (63 - (last & 63));
    if (bits) return false;
  }
  return true;
}

/* Whether nothing is pending on the part of a range that lies in a page. */
static bool page_is_clear(uintptr_t page, uintptr_t first, uintptr_t last, int write) {
  const unsigned granules = (1u << (COMMSAN_PAGE_SHIFT - COMMSAN_GRANULE_SHIFT)) - 1;
  const bool begins = page == first >> COMMSAN_PAGE_SHIFT, ends = page == last >> COMMSAN_PAGE_SHIFT;
  const unsigned begin = begins ? first >> COMMSAN_GRANULE_SHIFT & granules : 0;
  const unsigned end = ends ? last >> COMMSAN_GRANULE_SHIFT & granules : granules;
  return granules_are_clear(page & COMMSAN_SLOT_MASK, begin, end, write);
}

/* Ranges that are longer, or end before they begin, are left to checks: a loop may compute any
 * address for an access that it never reaches. */
#define LONGEST (1ull << 32)

/* Marks a range to be recorded, unless all of its pages are already marked. */
static void share_range(uintptr_t first, uintptr_t last, const void *pc) {
  const uintptr_t page = 1ul << COMMSAN_PAGE_SHIFT;
  for (uintptr_t at = first & -page; at <= last; at += page)
    if (!is_exposed(at)) return commsan_report(first, last - first + 1, COMMSAN_SHARE, NULL, pc, caller_frame);
}

/* The query of a loop before it runs without checks: whether nothing is pending from the first byte
 * to the last, by granules. `how` is 1 for writes, plus COMMSAN_NOTE if all accesses of the loop to
 * the range are known beforehand (sweep.c). The answer is then 1, plus COMMSAN_NOTE if they must be
 * recorded, since pages of the range are exposed. `how` includes COMMSAN_SHARE if threads execute
 * the loop: then all of the range must be recorded while there are several threads. */
HOOK uint64_t __commsan_range_clear(uintptr_t first, uintptr_t last, uint64_t how) {
  const uintptr_t first_page = first >> COMMSAN_PAGE_SHIFT, last_page = last >> COMMSAN_PAGE_SHIFT;
  const int write = how & 1;
  uint64_t clear = 1;
  if (last - first > LONGEST) return 0;
  if (how & COMMSAN_SHARE && (uint32_t)COMMSAN_ABI->parallel) {
    if (!(how & COMMSAN_NOTE)) return 0;
    share_range(first, last, CALLER_PC);
  }
  for (uintptr_t page = first_page; page <= last_page; page++) {
    if (!page_is_clear(page, first, last, write)) return 0;
    if (is_exposed(page << COMMSAN_PAGE_SHIFT)) {
      if (!(how & COMMSAN_NOTE)) return 0;
      clear |= COMMSAN_NOTE;
    }
  }
  return clear;
}

/* Whether neither anything is pending from the first byte to the last, nor a page exposed. Looks at
 * eight pages at once. */
static bool is_clear(uintptr_t first, uintptr_t last, int write) {
  const uintptr_t first_page = first >> COMMSAN_PAGE_SHIFT, last_page = last >> COMMSAN_PAGE_SHIFT;
  if (last - first > LONGEST) return false;
  for (uintptr_t page = first_page; page <= last_page; page++) {
    const uint8_t *marks = COMMSAN_FILTER + (page & COMMSAN_SLOT_MASK);
    if (!(page & 7) && last_page - page >= 8 && !*(const uint64_t *)marks) {
      page += 7;
      continue;
    }
    if (*marks & COMMSAN_EXPOSED || !page_is_clear(page, first, last, write)) return false;
  }
  return true;
}

/* `so_far` if a loop's accesses from the first byte to the last concern nothing, otherwise 0. */
HOOK uint64_t __commsan_span_clear(uintptr_t first, uintptr_t last, uint64_t write, uint64_t so_far) {
  return so_far && !commsan_disagrees && is_clear(first, last, write) ? so_far : 0;
}

/* The same for all of the object that a pointer leads to: a block of heap. */
HOOK uint64_t __commsan_object_clear(uintptr_t addr, uint64_t write, uint64_t so_far) {
  uintptr_t size;
  if (!so_far || commsan_disagrees || !COMMSAN_ABI->block) return 0;
  const uintptr_t start = COMMSAN_ABI->block(addr, &size);
  return size && is_clear(start, start + size - 1, write) ? so_far : 0;
}

/* The pointer at an offset from another one, from where the loop itself may load it, if that lies
 * in a block of heap, and nothing is pending there; otherwise none. */
HOOK const void *__commsan_pointee(const char *pointer, long offset) {
  const uintptr_t at = (uintptr_t)pointer + offset;
  uintptr_t size;
  if (!COMMSAN_ABI->block || commsan_disagrees) return NULL;
  const uintptr_t start = COMMSAN_ABI->block(at, &size);
  if (at - start >= size || size - (at - start) < sizeof(void *)) return NULL;
  if (!is_clear(at, at + sizeof(void *) - 1, 0)) return NULL;
  return *(const void *const *)at;
}
