/* Preloaded: a runtime of another version has mapped the header first, and everything is live. */
#include "commsan_abi.h"

#include <string.h>
#include <sys/mman.h>

static void never(uintptr_t addr, size_t size, int write, const char *by, const void *pc,
                  const void *frame) {
  (void)addr, (void)size, (void)write, (void)by, (void)pc, (void)frame;
  __builtin_trap();
}

__attribute__((constructor)) static void map(void) {
  mmap(COMMSAN_ABI, 4096 + (1ull << COMMSAN_SLOT_BITS), PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  *COMMSAN_ABI = (struct commsan_abi){.magic = COMMSAN_ABI_MAGIC,
                                      .version = COMMSAN_ABI_VERSION + 1,
                                      .live = 1,
                                      .access = never};
  memset((void *)COMMSAN_BASE, 0x0f, 1ull << COMMSAN_SLOT_BITS);
}
