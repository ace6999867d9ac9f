/* read, write and sockets: they access as many bytes as they return, so checks follow the call. */
#define _GNU_SOURCE
#include "channel.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#define MOVED(n) ((n) > 0 ? (size_t)(n) : 0)

/* For each effect on the buffer (READS, WRITES): the effect on the channel, before and after the
 * call. */
#define READS_BEFORE(name) GIVES(name)
#define READS_AFTER(name, moved)
#define WRITES_BEFORE(name)
#define WRITES_AFTER(name, moved) TAKEN(name, moved)

/* One macro for each shape of parameters; `touch` is what the call does to the buffer. */
#define TRANSFER(name, in_reports, touch, parameters, ...)                                         \
  WRAP(ssize_t, name, in_reports, parameters, {                                                    \
    touch##_BEFORE(name);                                                                          \
    ssize_t moved = __real_##name(__VA_ARGS__);                                                    \
    touch##_AFTER(name, moved);                                                                    \
    touch(buffer, MOVED(moved));                                                                   \
    return moved;                                                                                  \
  })

TRANSFER(read, "read", WRITES, (int fd, void *buffer, size_t n), fd, buffer, n)
TRANSFER(write, "write", READS, (int fd, const void *buffer, size_t n), fd, buffer, n)
TRANSFER(pread, "pread", WRITES, (int fd, void *buffer, size_t n, off_t at), fd, buffer, n, at)
TRANSFER(pread64, "pread", WRITES, (int fd, void *buffer, size_t n, off_t at), fd, buffer, n, at)
TRANSFER(pwrite, "pwrite", READS, (int fd, const void *buffer, size_t n, off_t at), fd, buffer, n,
         at)
TRANSFER(pwrite64, "pwrite", READS, (int fd, const void *buffer, size_t n, off_t at), fd, buffer,
         n, at)
TRANSFER(__read_chk, "read", WRITES, (int fd, void *buffer, size_t n, size_t room), fd, buffer, n,
         room)
TRANSFER(__pread_chk, "pread", WRITES, (int fd, void *buffer, size_t n, off_t at, size_t room), fd,
         buffer, n, at, room)
TRANSFER(__pread64_chk, "pread", WRITES, (int fd, void *buffer, size_t n, off_t at, size_t room),
         fd, buffer, n, at, room)

/* A datagram may be longer than the buffer, and MSG_TRUNC returns its full length. */
#define RECEIVED(room) MOVED(moved < (ssize_t)(room) ? moved : (ssize_t)(room))
#define RECEIVE(name, in_reports, parameters, ...)                                                 \
  WRAP(ssize_t, name, in_reports, parameters, {                                                    \
    ssize_t moved = __real_##name(__VA_ARGS__);                                                    \
    TAKEN(name, moved);                                                                            \
    if (!(flags & MSG_TRUNC)) WRITES(buffer, RECEIVED(n));                                         \
    return moved;                                                                                  \
  })

RECEIVE(recv, "recv", (int fd, void *buffer, size_t n, int flags), fd, buffer, n, flags)
RECEIVE(__recv_chk, "recv", (int fd, void *buffer, size_t n, size_t room, int flags), fd, buffer, n,
        room, flags)
RECEIVE(recvfrom, "recvfrom",
        (int fd, void *buffer, size_t n, int flags, struct sockaddr *from, socklen_t *size), fd,
        buffer, n, flags, from, size)
RECEIVE(__recvfrom_chk, "recvfrom",
        (int fd, void *buffer, size_t n, size_t room, int flags, struct sockaddr *from,
         socklen_t *size),
        fd, buffer, n, room, flags, from, size)

TRANSFER(send, "send", READS, (int fd, const void *buffer, size_t n, int flags), fd, buffer, n,
         flags)
TRANSFER(sendto, "sendto", READS,
         (int fd, const void *buffer, size_t n, int flags, const struct sockaddr *to,
          socklen_t size),
         fd, buffer, n, flags, to, size)

/* Vectors are filled and drained in order. */
#define VECTOR_CHECKS(touch, vector, count)                                                        \
  if (on) {                                                                                        \
    size_t left = MOVED(moved);                                                                    \
    for (size_t i = 0; i < (size_t)(count) && left > 0; i++) {                                     \
      size_t part = (vector)[i].iov_len < left ? (vector)[i].iov_len : left;                       \
      touch((vector)[i].iov_base, part);                                                           \
      left -= part;                                                                                \
    }                                                                                              \
  }

#define VECTOR(name, in_reports, touch, parameters, ...)                                           \
  WRAP(ssize_t, name, in_reports, parameters, {                                                    \
    touch##_BEFORE(name);                                                                          \
    ssize_t moved = __real_##name(__VA_ARGS__);                                                    \
    touch##_AFTER(name, moved);                                                                    \
    VECTOR_CHECKS(touch, vector, count)                                                            \
    return moved;                                                                                  \
  })

VECTOR(readv, "readv", WRITES, (int fd, const struct iovec *vector, int count), fd, vector, count)
VECTOR(writev, "writev", READS, (int fd, const struct iovec *vector, int count), fd, vector, count)
#define AT (int fd, const struct iovec *vector, int count, off_t at)
VECTOR(preadv, "preadv", WRITES, AT, fd, vector, count, at)
VECTOR(preadv64, "preadv", WRITES, AT, fd, vector, count, at)
VECTOR(pwritev, "pwritev", READS, AT, fd, vector, count, at)
VECTOR(pwritev64, "pwritev", READS, AT, fd, vector, count, at)

#define MESSAGE(name, touch, parameters)                                                           \
  WRAP(ssize_t, name, #name, parameters, {                                                         \
    touch##_BEFORE(name);                                                                          \
    ssize_t moved = __real_##name(fd, message, flags);                                             \
    touch##_AFTER(name, moved);                                                                    \
    if (!(flags & MSG_TRUNC)) {                                                                    \
      VECTOR_CHECKS(touch, message->msg_iov, message->msg_iovlen)                                  \
    }                                                                                              \
    return moved;                                                                                  \
  })

MESSAGE(recvmsg, WRITES, (int fd, struct msghdr *message, int flags))
MESSAGE(sendmsg, READS, (int fd, const struct msghdr *message, int flags))

WRAP(int, eventfd_read, "eventfd_read", (int fd, eventfd_t *count), {
  int result = __real_eventfd_read(fd, count);
  TAKEN(eventfd_read, result == 0);
  if (result == 0) WRITES(count, sizeof *count);
  return result;
})

WRAP(int, eventfd_write, "eventfd_write", (int fd, eventfd_t count), {
  GIVES(eventfd_write);
  return __real_eventfd_write(fd, count);
})
