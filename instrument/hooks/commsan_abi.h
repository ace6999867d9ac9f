/* The ABI between compiled-in hooks and the preloaded runtime.
 *
 * Both sides find each other at a fixed address, so that a check costs one load, and any number of
 * instrumented executables and libraries share one filter without symbol lookups. The first of
 * them maps it. Without the runtime all of it stays zero, and every check passes.
 *
 *   COMMSAN_BASE - 4096   struct commsan_abi
 *   COMMSAN_BASE          the page filter: one byte for each page, hashed by its low bits
 *
 * `crates/process/src/abi.rs` contains the same definitions in Rust: change both together, and
 * raise the version.
 */
#ifndef COMMSAN_ABI_H
#define COMMSAN_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMMSAN_ABI_MAGIC 0x3149424153434d43ull /* "CMCSABI1" */
#define COMMSAN_ABI_VERSION 7
#define COMMSAN_BASE 0x100000000000ull
#define COMMSAN_PAGE_SHIFT 12
#define COMMSAN_SLOT_BITS 26 /* 64 MiB of filter; pages 256 GiB apart share a byte */
#define COMMSAN_SLOT_MASK ((1ull << COMMSAN_SLOT_BITS) - 1)

/* Bits of a filter byte that concern a read (an operation writes some live range) and a write (an
 * operation reads or writes some live range). In exposed pages, both are recorded. */
#define COMMSAN_CHECK_READ 0x1au
#define COMMSAN_CHECK_WRITE 0x1fu
/* Other ranks may access the page. */
#define COMMSAN_EXPOSED 0x10u
/* The bits of these that stand for ranges which cover the whole page. */
#define COMMSAN_WHOLE 0x0cu

/* For each slot, one bit for each 8-byte granule of the page: first for operations that read it,
 * then for those that write it. */
#define COMMSAN_GRANULE_SHIFT 3
#define COMMSAN_PLANE_WORDS 8

/* The last read of every 8 bytes of an exposed page, then the last write of each: a code location's
 * number, and in the low byte a mask of the accessed bytes. See `crates/shadow/src/shadow.rs`. */
#define COMMSAN_CELLS 1024
#define COMMSAN_RECENT 4096
#define COMMSAN_BLOCK_SHIFT 9

struct commsan_place {
  const void *pc;
  const char *by;
  uint64_t stamp;
  uint32_t segment, own, older, reserved;
};

/* Added to `write` for an access that is to be recorded, not checked, and for one whose page is to
 * be recorded from now on. */
#define COMMSAN_NOTE 2
#define COMMSAN_SHARE 4

/* Kinds of synchronisation. */
#define COMMSAN_ACQUIRE 1
#define COMMSAN_RELEASE 2
/* By a volatile variable: a write orders all threads, since it is unknown when a reader sees it. */
#define COMMSAN_BROADCAST 4
/* An atomic access, whether or not it orders anything. */
#define COMMSAN_ATOMIC 8
/* No synchronisation: one of the sections of a construct begins, or this thread has none left. */
#define COMMSAN_SECTION 16
#define COMMSAN_NO_SECTION 32

struct commsan_abi {
  uint64_t magic;
  uint32_t version;
  /* Number of instrumented modules that have been initialised. */
  uint32_t hooked;
  /* Number of live ranges; while 0, range checks can be skipped entirely. */
  uint64_t live;
  /* Number of live ranges on stacks of threads; while 0, returns need no check. */
  uint64_t stack_live;
  /* Called for an access to a page whose filter byte concerns it. `by` is the name of the libc
   * function that made it, a string constant, or NULL for a plain load or store. `pc` is a return
   * address in the accessing code, `frame` its frame pointer (arbitrary if it keeps none). */
  void (*access)(uintptr_t addr, size_t size, int write, const char *by, const void *pc,
                 const void *frame);
  /* Called when the function whose frame pointer is `frame` is about to return at `pc`. */
  void (*leave)(const void *pc, const void *frame);
  /* Granule bits by slot, or NULL if the address space is too small for them. */
  const uint64_t (*granules)[2 * COMMSAN_PLANE_WORDS];
  /* The last accesses to exposed pages by slot, or NULL; the code locations they refer to; the
   * number of the location last seen for a hash of the instruction's address. */
  uint32_t (*cells)[COMMSAN_CELLS];
  const struct commsan_place *places;
  const uint32_t *recent;
  /* The current segment of time. */
  uint32_t segment, next_place, place_limit;
  /* Accesses up to this segment need not be kept. */
  uint32_t floor;
  /* Called when threads synchronise by memory at an address, or by a fence if that is 0. */
  void (*synchronise)(uintptr_t addr, int kind);
  /* Offset from the thread pointer of a thread's agent number and epoch. */
  uint64_t stamp;
  /* Number of threads and parallel regions beside the first thread; bit 32 is set if there are
   * windows that other ranks load from and store to. While 0, there is no other agent to
   * synchronise with. */
  uint64_t parallel;
  /* By slot, set when cells of the page change, then by block of slots; NULL while unused. */
  bool *changed;
  /* Where the block of heap that holds an address begins, and its size in bytes; 0 if it is not
   * known. */
  uintptr_t (*block)(uintptr_t addr, size_t *size);
};

#define COMMSAN_ABI ((struct commsan_abi *)(COMMSAN_BASE - 4096))
#define COMMSAN_FILTER ((const uint8_t *)COMMSAN_BASE)

#endif
