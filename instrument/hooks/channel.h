/* Data read from a pipe, socket or eventfd was written before: event loops pass work between
 * threads in this way.
 *
 * A pipe is identified by its inode, which both ends share. The ends of a connection have different
 * inodes, and all eventfds share one: these count as one channel. A reader is ordered after all
 * that have written to the channel so far. Regular files order nothing, so neither do output to and
 * input from them.
 */
#ifndef COMMSAN_CHANNEL_H
#define COMMSAN_CHANNEL_H

#include "wrap.h"

#include <errno.h>
#include <sys/stat.h>

int __real_fstat(int fd, struct stat *told);

static __attribute__((noinline, cold, unused)) void pass_through(int fd, int kind) {
  /* This is no valid address, so it names no memory. */
  const uintptr_t channel = (uintptr_t)1 << 63;
  const int code = errno;
  struct stat about;
  if (__real_fstat(fd, &about) == 0) {
    const mode_t type = about.st_mode & S_IFMT;
    if (type == S_IFIFO) __commsan_synchronise((void *)(channel | about.st_ino), kind);
    else if (type == S_IFSOCK || !type) __commsan_synchronise((void *)channel, kind);
  }
  errno = code;
}

/* Orders a reader after the call, once it has moved bytes, and a writer before the call. */
#define PASS(name, kind, condition)                                                                \
  do {                                                                                             \
    if (__builtin_expect(COMMSAN_ABI->parallel != 0, 0) && (condition) &&                          \
        commsan_is_libc((const void *)__real_##name))                                              \
      pass_through(fd, kind);                                                                      \
  } while (0)
#define TAKEN(name, moved) PASS(name, COMMSAN_ACQUIRE, (moved) > 0)
#define GIVES(name) PASS(name, COMMSAN_RELEASE, true)

#endif
