#include "harness.h"

#include "commsan_abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

char area[3 * 4096] __attribute__((aligned(4096)));
const void *last_pc, *last_frame, *left[16];
int left_count;

static struct record {
  int write;
  const char *p;
  size_t size;
  const char *by;
} records[2048];
static int count, failures;

enum { PLACES = 4096 };
static struct commsan_place places[PLACES];
static uint32_t recent[COMMSAN_RECENT], (*cells)[COMMSAN_CELLS], place_count;
static size_t most_at_once;

static void *reserve(size_t size) {
  return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static uint32_t *cell_of(int write, uintptr_t at) {
  const uintptr_t slot = at >> COMMSAN_PAGE_SHIFT & COMMSAN_SLOT_MASK;
  return &cells[slot][(at >> 3 & 511) + (write ? 512 : 0)];
}

/* As the runtime does, but not telling who noted which of the bytes of a cell. */
static void note(uintptr_t addr, size_t size, int write, const void *pc) {
  const uint64_t stamp = *(uint64_t *)((char *)__builtin_thread_pointer() + COMMSAN_ABI->stamp);
  const uintptr_t at = (uintptr_t)pc;
  uint32_t *known = &recent[(at ^ at >> 12 ^ (uint32_t)stamp * 0x155ul) % COMMSAN_RECENT];
  if (places[*known].pc != pc) {
    if (++place_count == PLACES) abort();
    places[place_count] = (struct commsan_place){.pc = pc, .stamp = stamp, .segment = 1};
    *known = place_count;
  }
  for (uintptr_t byte = addr; byte < addr + size; byte++) {
    uint32_t *cell = cell_of(write, byte);
    *cell = *known << 8 | (*cell & 0xff) | 1u << byte % 8;
  }
  if (size > most_at_once) most_at_once = size;
}

static int only_touches;
static unsigned char touched[2][sizeof area];

void record_touches(void) { only_touches = 1; }

static void record(uintptr_t addr, size_t size, int write, const char *by, const void *pc,
                   const void *frame) {
  if (write & COMMSAN_NOTE) return note(addr, size, write & 1, pc);
  if (only_touches) {
    for (uintptr_t at = addr - (uintptr_t)area; size--; at++)
      if (at < sizeof area) touched[write][at] = 1;
    return;
  }
  if (count == 2048) abort();
  records[count++] = (struct record){write, (const char *)addr, size, by};
  last_pc = pc;
  last_frame = frame;
}

static void record_return(const void *pc, const void *frame) {
  (void)pc;
  if (left_count < 16) left[left_count++] = frame;
}

static void set_filter(const void *p, size_t size, uint8_t bits) {
  uintptr_t last = ((uintptr_t)p + size - 1) >> COMMSAN_PAGE_SHIFT;
  for (uintptr_t page = (uintptr_t)p >> COMMSAN_PAGE_SHIFT; page <= last; page++)
    ((uint8_t *)COMMSAN_BASE)[page & COMMSAN_SLOT_MASK] = bits;
}

void watch(const void *p, size_t size) { set_filter(p, size, 0x0f); }
void unwatch(const void *p, size_t size) { set_filter(p, size, 0); }

int touches(int write, const void *p) {
  int found = 0;
  if (only_touches) return touched[write][(const char *)p - area];
  for (int i = 0; i < count; i++)
    found += records[i].write == write && (const char *)p - records[i].p < (long)records[i].size &&
             (const char *)p >= records[i].p;
  return found;
}

void begin(void) {
  memset(area, 'x', sizeof area);
  if (only_touches) memset(touched, 0, sizeof touched);
  count = 0;
  COMMSAN_ABI->access = record;
  COMMSAN_ABI->leave = record_return;
  COMMSAN_ABI->live = 1;
  set_filter(area, sizeof area, 0x0f);
}

void set_live(int live) { COMMSAN_ABI->live = live; }
void set_parallel(int count) { COMMSAN_ABI->parallel = count; }

void expose(void) {
  if (!cells) cells = reserve(sizeof *cells << COMMSAN_SLOT_BITS);
  for (char *page = area; page < area + sizeof area; page += 4096) {
    memset(cell_of(0, (uintptr_t)page), 0, sizeof *cells);
    ((uint8_t *)COMMSAN_BASE)[(uintptr_t)page >> COMMSAN_PAGE_SHIFT & COMMSAN_SLOT_MASK] |=
        COMMSAN_EXPOSED;
  }
  memset(places, 0, sizeof places);
  memset(recent, 0, sizeof recent);
  place_count = 0;
  most_at_once = 0;
  COMMSAN_ABI->cells = cells;
  COMMSAN_ABI->places = places;
  COMMSAN_ABI->recent = recent;
  COMMSAN_ABI->segment = 1;
}

int is_noted(int write, const void *p) {
  return *cell_of(write, (uintptr_t)p) >> (uintptr_t)p % 8 & 1;
}

size_t noted_at_once(void) { return most_at_once; }

uint64_t *granules_of(const void *p) {
  static const uint64_t (*granules)[2 * COMMSAN_PLANE_WORDS];
  if (!granules) granules = reserve(sizeof *granules << COMMSAN_SLOT_BITS);
  COMMSAN_ABI->granules = granules;
  return (uint64_t *)granules[(uintptr_t)p >> COMMSAN_PAGE_SHIFT & COMMSAN_SLOT_MASK];
}

void begin_with(const void *granule, int received) {
  const size_t planes_size = 2 * COMMSAN_PLANE_WORDS * sizeof(uint64_t);
  const unsigned number = (uintptr_t)granule % 4096 >> COMMSAN_GRANULE_SHIFT;
  uint64_t *planes = granules_of(granule);
  begin();
  set_filter(area, sizeof area, 0);
  for (char *page = area; page < area + sizeof area; page += 4096)
    memset(granules_of(page), 0, planes_size);
  planes[number / 64 + (received ? COMMSAN_PLANE_WORDS : 0)] = 1ul << number % 64;
  const unsigned concern = received ? COMMSAN_CHECK_READ : COMMSAN_CHECK_WRITE & ~COMMSAN_CHECK_READ;
  set_filter(granule, 1, concern & ~(COMMSAN_WHOLE | COMMSAN_EXPOSED));
}

float *watching(float *value) {
  memset(value, 0x0f, sizeof *value);
  return (float *)(COMMSAN_BASE + ((uintptr_t)area >> COMMSAN_PAGE_SHIFT & COMMSAN_SLOT_MASK));
}

static uintptr_t other_start;
static size_t other_size;

static uintptr_t block_of(uintptr_t addr, size_t *size) {
  const uintptr_t start = (uintptr_t)area;
  *size = addr - start < sizeof area ? sizeof area : addr - other_start < other_size ? other_size : 0;
  return addr - start < sizeof area ? start : other_start;
}

void know_block(const void *start, size_t size) {
  other_start = (uintptr_t)start;
  other_size = size;
  COMMSAN_ABI->block = block_of;
}

void end(void) {
  set_filter(area, sizeof area, 0);
  COMMSAN_ABI->live = 0;
}

void watch_returns(int on) {
  COMMSAN_ABI->leave = record_return;
  COMMSAN_ABI->stack_live = on;
  if (on) left_count = 0;
}

static void show(void) {
  for (int i = 0; i < count; i++)
    printf("    recorded: %s area+%td, %zu bytes, by %s\n", records[i].write ? "write" : "read",
           records[i].p - area, records[i].size, records[i].by ? records[i].by : "-");
}

void fail_at(int line, const char *what) {
  failures++;
  printf("line %d: %s\n", line, what);
}

static int same(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

void expect_at(int line, int write, const void *p, size_t size, const char *by) {
  for (int i = 0; i < count; i++) {
    struct record *r = &records[i];
    if (r->write != write || r->p != p || r->size != size || !same(r->by, by)) continue;
    records[i] = records[--count];
    return;
  }
  fail_at(line, "an access was not reported");
  printf("    expected: %s area+%td, %zu bytes, by %s\n", write ? "write" : "read",
         (const char *)p - area, size, by ? by : "-");
  show();
}

void cover_at(int line, int write, const void *p, size_t size) {
  char touched[sizeof area] = {0}, wanted[sizeof area] = {0};
  int kept = 0;
  for (int i = 0; i < count; i++) {
    if (records[i].write == write) memset(touched + (records[i].p - area), 1, records[i].size);
    else records[kept++] = records[i];
  }
  memset(wanted + ((const char *)p - area), 1, size);
  if (memcmp(touched, wanted, sizeof area)) {
    fail_at(line, write ? "writes do not cover exactly" : "reads do not cover exactly");
    printf("    area+%td, %zu bytes\n", (const char *)p - area, size);
    show();
  }
  count = kept;
}

void nothing_at(int line) {
  if (count) fail_at(line, "more accesses than expected"), show();
  count = 0;
}

int finish(void) {
  end();
  if (!COMMSAN_ABI->hooked) fail_at(0, "no module announced itself");
  printf(failures ? "%d failures\n" : "passed\n", failures);
  return failures != 0;
}
