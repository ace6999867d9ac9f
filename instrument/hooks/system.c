/* System queries: times, names and files. They write the result to memory of the caller. */
#define _GNU_SOURCE
#include "wrap.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <time.h>

/* One macro for each convention of returning success. */
#define TOLD(name, T, parameters, ...)                                                             \
  WRAP(int, name, #name, parameters, {                                                             \
    int result = __real_##name(__VA_ARGS__);                                                       \
    if (result == 0 && told) WRITES(told, sizeof(T));                                              \
    return result;                                                                                 \
  })

TOLD(clock_gettime, struct timespec, (clockid_t clock, struct timespec *told), clock, told)
TOLD(clock_getres, struct timespec, (clockid_t clock, struct timespec *told), clock, told)
TOLD(getrusage, struct rusage, (int who, struct rusage *told), who, told)
TOLD(uname, struct utsname, (struct utsname * told), told)
TOLD(stat, struct stat, (const char *path, struct stat *told), path, told)
TOLD(lstat, struct stat, (const char *path, struct stat *told), path, told)
TOLD(fstat, struct stat, (int fd, struct stat *told), fd, told)
TOLD(stat64, struct stat64, (const char *path, struct stat64 *told), path, told)
TOLD(lstat64, struct stat64, (const char *path, struct stat64 *told), path, told)
TOLD(fstat64, struct stat64, (int fd, struct stat64 *told), fd, told)

/* These two resolve to the kernel's own code, not to libc's (vdso(7)). */
WRAP_OTHER(int, gettimeofday, "gettimeofday", (struct timeval * told, void *zone), {
  int result = __real_gettimeofday(told, zone);
  if (result == 0 && told) WRITES(told, sizeof *told);
  return result;
})
WRAP_OTHER(time_t, time, "time", (time_t * told), {
  time_t now = __real_time(told);
  if (now != (time_t)-1 && told) WRITES(told, sizeof *told);
  return now;
})

WRAP(clock_t, times, "times", (struct tms * told), {
  clock_t now = __real_times(told);
  if (now != (clock_t)-1 && told) WRITES(told, sizeof *told);
  return now;
})

/* A name that does not fit is truncated. */
#define NAME(name, ...)                                                                            \
  WRAP(int, name, "gethostname", __VA_ARGS__, {                                                    \
    int result = __real_##name ROOM;                                                               \
    if (result == 0) WRITES(to, bounded_size(to, size));                                           \
    return result;                                                                                 \
  })
#define ROOM (to, size)
NAME(gethostname, (char *to, size_t size))
#undef ROOM
#define ROOM (to, size, room)
NAME(__gethostname_chk, (char *to, size_t size, size_t room))

#define PATH(name, ...)                                                                            \
  WRAP(char *, name, "getcwd", __VA_ARGS__, {                                                      \
    char *result = __real_##name PLACE;                                                            \
    if (result && result == to) WRITES(to, string_size(to));                                       \
    return result;                                                                                 \
  })
#define PLACE (to, size)
PATH(getcwd, (char *to, size_t size))
#undef PLACE
#define PLACE (to, size, room)
PATH(__getcwd_chk, (char *to, size_t size, size_t room))

/* Returns 0 if the text does not fit; the buffer's contents are then undefined. */
WRAP(size_t, strftime, "strftime", (char *to, size_t size, const char *format, const struct tm *when), {
  READS(when, sizeof *when);
  size_t length = __real_strftime(to, size, format, when);
  if (length > 0) WRITES(to, length + 1);
  return length;
})

#define CALENDAR(name)                                                                             \
  WRAP(struct tm *, name, #name, (const time_t *when, struct tm *told), {                          \
    READS(when, sizeof *when);                                                                     \
    struct tm *result = __real_##name(when, told);                                                 \
    if (result) WRITES(told, sizeof *told);                                                        \
    return result;                                                                                 \
  })
CALENDAR(localtime_r)
CALENDAR(gmtime_r)

/* The byte behind a token is overwritten by a terminator unless it is one; the start of the next
 * search shows whether it was. */
WRAP(char *, strtok_r, "strtok_r", (char *text, const char *between, char **rest), {
  char *token = __real_strtok_r(text, between, rest);
  if (token) {
    char *end = token + __real_strlen(token);
    READS(token, (size_t)(end - token));
    if (*rest > end) WRITES(end, 1);
  }
  return token;
})
