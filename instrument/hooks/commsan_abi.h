/* What compiled-in hooks and the preloaded runtime agree on.
 *
 * Both sides find each other at a fixed address, so that a check costs one load and any number
 * of instrumented executables and libraries share one filter without symbol lookups. Whoever
 * comes first maps it; without the runtime all of it stays zero and every check passes.
 *
 *   COMMSAN_BASE - 4096   struct commsan_abi
 *   COMMSAN_BASE          the page filter: one byte for each page, hashed by its low bits
 *
 * `crates/process/src/abi.rs` is the same text in Rust; change both together and raise the version.
 */
#ifndef COMMSAN_ABI_H
#define COMMSAN_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMMSAN_ABI_MAGIC 0x3149424153434d43ull /* "CMCSABI1" */
#define COMMSAN_ABI_VERSION 6
#define COMMSAN_BASE 0x100000000000ull
#define COMMSAN_PAGE_SHIFT 12
#define COMMSAN_SLOT_BITS 26 /* 64 MiB of filter; pages 256 GiB apart share a byte */
#define COMMSAN_SLOT_MASK ((1ull << COMMSAN_SLOT_BITS) - 1)

/* Bits of a filter byte that concern a read (some live range is written by an operation) and a
 * write (some live range is read or written); both are noted in exposed pages. */
#define COMMSAN_CHECK_READ 0x1au
#define COMMSAN_CHECK_WRITE 0x1fu
/* Other ranks may access the page. */
#define COMMSAN_EXPOSED 0x10u
/* Of these, the bits of ranges that cover the whole page. */
#define COMMSAN_WHOLE 0x0cu

/* For each slot a bit for each 8-byte granule of the page: first of those operations read, then
 * of those they write. */
#define COMMSAN_GRANULE_SHIFT 3
#define COMMSAN_PLANE_WORDS 8

/* What the last read of every 8 bytes of an exposed page was, then what the last write of each: the
 * number of a place, and in the low byte which bytes. See `crates/shadow/src/shadow.rs`. */
#define COMMSAN_CELLS 1024
#define COMMSAN_RECENT 4096
#define COMMSAN_BLOCK_SHIFT 9

struct commsan_place {
  const void *pc;
  const char *by;
  uint64_t stamp;
  uint32_t segment, own, older, reserved;
};

/* Added to `write` where an access shall be noted, not checked, and where its page shall be noted
 * from now on. */
#define COMMSAN_NOTE 2
#define COMMSAN_SHARE 4

/* Kinds of synchronisation. */
#define COMMSAN_ACQUIRE 1
#define COMMSAN_RELEASE 2
/* By a volatile variable: who writes orders everybody, since who reads cannot say when. */
#define COMMSAN_BROADCAST 4
/* Atomically, whether or not that orders anything. */
#define COMMSAN_ATOMIC 8

struct commsan_abi {
  uint64_t magic;
  uint32_t version;
  /* Instrumented modules that have been initialised. */
  uint32_t hooked;
  /* Live ranges; while 0, range checks can be skipped whole. */
  uint64_t live;
  /* Live ranges that lie on some thread's stack; while 0, returns need no check. */
  uint64_t stack_live;
  /* An access to a page whose filter byte concerns it. `by` names the libc function that made
   * it, a string constant, or is NULL for a plain load or store. `pc` is a return address in
   * the accessing code, `frame` its frame pointer (may be anything if it keeps none). */
  void (*access)(uintptr_t addr, size_t size, int write, const char *by, const void *pc,
                 const void *frame);
  /* The function whose frame pointer is `frame` is about to return at `pc`. */
  void (*leave)(const void *pc, const void *frame);
  /* Granule bits by slot, or NULL where the address space is too small for them. */
  const uint64_t (*granules)[2 * COMMSAN_PLANE_WORDS];
  /* The last accesses to exposed pages by slot, or NULL; the places they refer to; the number of
   * the place last seen with a hash of the instruction's address. */
  uint32_t (*cells)[COMMSAN_CELLS];
  const struct commsan_place *places;
  const uint32_t *recent;
  /* The present segment of time. */
  uint32_t segment, next_place, place_limit;
  /* What was done up to this segment need not be kept. */
  uint32_t floor;
  /* The program synchronises its threads by memory at an address, or by a fence where that is 0. */
  void (*synchronise)(uintptr_t addr, int kind);
  /* Where each thread keeps the number of its agent and epoch, from its thread pointer. */
  uint64_t stamp;
  /* Threads and parallel regions beside the first thread, and in bit 32 whether there are
   * windows that other ranks load from and store to; while 0, there is nobody to synchronise
   * with. */
  uint64_t parallel;
  /* By slot, set when cells of the page change, then by block of slots; NULL while nobody asks. */
  bool *changed;
};

#define COMMSAN_ABI ((struct commsan_abi *)(COMMSAN_BASE - 4096))
#define COMMSAN_FILTER ((const uint8_t *)COMMSAN_BASE)

#endif
