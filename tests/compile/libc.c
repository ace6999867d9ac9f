/* Each wrapped libc function reports the bytes it touches and no other. Calls go through libc's
 * headers, so with _FORTIFY_SOURCE the checking variants are meant. */
#define _GNU_SOURCE
#include "harness.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <wchar.h>

static char here[256];
#define N(n) OPAQUE((size_t)(n))
/* Not known to the compiler, so nothing is folded. */
#define A OPAQUE(&area[0])
#define H OPAQUE(&here[0])

/* Puts text into the area, unseen. */
static void text(int at, const char *s) {
  end();
  begin();
  for (int i = 0;; i++) {
    ((volatile char *)area)[at + i] = s[i];
    if (!s[i]) break;
  }
  cover_write(area + at, __builtin_strlen(s) + 1);
}

static void memory(void) {
  begin();
  memcpy(A, H, N(100));
  expect_write(area, 100, "memcpy");
  memcpy(H, A + 4000, N(200));
  expect_read(area + 4000, 200, "memcpy");
  memmove(A + 1, A, N(50));
  expect_read(area, 50, "memmove");
  expect_write(area + 1, 50, "memmove");
  CHECK(mempcpy(A, H, N(5)) == area + 5);
  expect_write(area, 5, "mempcpy");
  memset(A, 7, N(9));
  expect_write(area, 9, "memset");
  bzero(A + 1, N(10));
  explicit_bzero(A + 20, N(10));
  end(); /* bzero may be called as memset */
  begin();
  explicit_bzero(A + 20, N(10));
  expect_write(area + 20, 10, "explicit_bzero");
  memset(here, 'x', 256);
  here[10] = 'y';
  CHECK(memcmp(A, H, N(100)) < 0);
  cover_read(area, 11);
  CHECK(memcmp(A, H, N(10)) == 0);
  cover_read(area, 10);
  area[50] = 'y';
  cover_write(area + 50, 1);
  CHECK(memchr(A, 'y', N(100)) == area + 50);
  expect_read(area, 51, "memchr");
  CHECK(!memchr(A, 'z', N(100)));
  expect_read(area, 100, "memchr");
  CHECK(memrchr(A, 'y', N(100)) == area + 50);
  expect_read(area + 50, 50, "memrchr");
  CHECK(rawmemchr(A, 'y') == area + 50);
  expect_read(area, 51, "rawmemchr");
  wmemset((wchar_t *)A, L'a', N(3));
  expect_write(area, 12, "wmemset");
  wmemcpy((wchar_t *)A + 4, (wchar_t *)H, N(3));
  expect_write(area + 16, 12, "wmemcpy");
  nothing_else();
}

static void strings(void) {
  text(0, "hello");
  CHECK(strlen(A) == 5);
  expect_read(area, 6, "strlen");
  CHECK(strnlen(A, N(3)) == 3);
  expect_read(area, 3, "strnlen");
  strcpy(A + 100, A);
  expect_read(area, 6, "strcpy");
  expect_write(area + 100, 6, "strcpy");
  CHECK(stpcpy(A + 100, A) == area + 105);
  expect_read(area, 6, "stpcpy");
  expect_write(area + 100, 6, "stpcpy");
  strncpy(A + 100, A, N(20));
  expect_read(area, 6, "strncpy");
  expect_write(area + 100, 20, "strncpy");
  strncpy(A + 100, A, N(2));
  expect_read(area, 2, "strncpy");
  expect_write(area + 100, 2, "strncpy");
  strcat(A, OPAQUE("abc"));
  expect_read(area, 6, "strcat");
  expect_write(area + 5, 4, "strcat");
  strncat(A, OPAQUE("defg"), N(2));
  expect_read(area, 9, "strncat");
  expect_write(area + 8, 3, "strncat");
  nothing_else();

  text(0, "helloabcde");
  CHECK(strcmp(A, OPAQUE("help")) != 0);
  expect_read(area, 4, "strcmp");
  CHECK(strncmp(A, OPAQUE("hex"), N(2)) == 0);
  expect_read(area, 2, "strncmp");
  CHECK(strcasecmp(A, OPAQUE("HELLOABCDE")) == 0);
  expect_read(area, 11, "strcasecmp");
  CHECK(strncasecmp(A, OPAQUE("HELP"), N(9)) != 0);
  expect_read(area, 4, "strncasecmp");
  CHECK(strchr(A, OPAQUE('l')) == area + 2);
  expect_read(area, 3, "strchr");
  CHECK(!strchr(A, OPAQUE('z')));
  expect_read(area, 11, "strchr");
  CHECK(strrchr(A, OPAQUE('l')) == area + 3);
  expect_read(area, 11, "strrchr");
  CHECK(strchrnul(A, OPAQUE('z')) == area + 10);
  expect_read(area, 11, "strchrnul");
  CHECK(strstr(A, OPAQUE("ab")) == area + 5);
  expect_read(area, 7, "strstr");
  CHECK(strpbrk(A, OPAQUE("ol")) == area + 2);
  expect_read(area, 3, "strpbrk");
  CHECK(strspn(A, OPAQUE("eh")) == 2);
  expect_read(area, 3, "strspn");
  CHECK(strcspn(A, OPAQUE("o")) == 4);
  expect_read(area, 5, "strcspn");
  free(strdup(A));
  expect_read(area, 11, "strdup");
  free(strndup(A, N(4)));
  expect_read(area, 4, "strndup");
  nothing_else();
}

static int compare(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }

static void numbers(void) {
  char *stop;
  text(4090, " 123 x");
  CHECK(strtol(A + 4090, &stop, 10) == 123 && stop == area + 4094);
  expect_read(area + 4090, 5, "strtol");
  cover_read(stop, 0);
  CHECK(atoi(A + 4090) == 123);
  cover_read(area + 4090, 5);
  text(0, "2.5e3;");
  CHECK(strtod(A, NULL) == 2500);
  expect_read(area, 6, "strtod");
  CHECK(atof(A) == 2500);
  cover_read(area, 6);
  strtol(H, (char **)A, 10);
  cover_write(area, 8);
  nothing_else();
  begin();
  qsort(A, N(30), 1, compare);
  expect_write(area, 30, "qsort");
  end();
  begin();
  qsort(A, N(1), 1, compare);
  nothing_else();
}

static void descriptors(void) {
  int ends[2], pair[2], file = open("/tmp", O_TMPFILE | O_RDWR, 0600);
  CHECK(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
  begin();
  CHECK(write(ends[1], A, N(10)) == 10);
  expect_read(area, 10, "write");
  CHECK(read(ends[0], A, N(100)) == 10);
  expect_write(area, 10, "read");
  CHECK(read(-1, A, N(100)) == -1);
  nothing_else();
  CHECK(send(pair[0], A, N(20), 0) == 20);
  expect_read(area, 20, "send");
  CHECK(recv(pair[1], A, N(50), 0) == 20);
  expect_write(area, 20, "recv");
  CHECK(sendto(pair[0], A, N(20), 0, NULL, 0) == 20);
  expect_read(area, 20, "sendto");
  CHECK(recvfrom(pair[1], A, N(5), 0, NULL, NULL) == 5);
  expect_write(area, 5, "recvfrom");
  if (file >= 0) {
    CHECK(pwrite(file, A, N(30), 0) == 30);
    expect_read(area, 30, "pwrite");
    CHECK(pread(file, A, N(100), 10) == 20);
    expect_write(area, 20, "pread");
  }
  struct iovec parts[] = {{area, 3}, {here, 4}, {area + 100, 50}};
  CHECK(writev(ends[1], parts, 3) == 57);
  expect_read(area, 3, "writev");
  expect_read(area + 100, 50, "writev");
  parts[2].iov_len = 1000;
  CHECK(readv(ends[0], parts, 3) == 57);
  expect_write(area, 3, "readv");
  expect_write(area + 100, 50, "readv");
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 1};
  CHECK(sendmsg(pair[0], &message, 0) == 3);
  expect_read(area, 3, "sendmsg");
  CHECK(recvmsg(pair[1], &message, 0) == 3);
  expect_write(area, 3, "recvmsg");
  nothing_else();
}

static void streams(void) {
  FILE *f = tmpfile();
  char *line = NULL;
  size_t room = 0;
  CHECK(fputs("one\ntwo\n", f) >= 0);
  rewind(f);
  begin();
  CHECK(fread(A, N(3), N(100), f) == 2);
  expect_write(area, 6, "fread");
  CHECK(fwrite(A, N(2), N(7), f) == 7);
  expect_read(area, 14, "fwrite");
  rewind(f);
  CHECK(fgets(A, OPAQUE(100), f) == area);
  expect_write(area, 5, "fgets");
  text(0, "abc");
  CHECK(fputs(A, f) >= 0);
  expect_read(area, 4, "fputs");
  nothing_else();
  rewind(f);
  CHECK(getline(&line, &room, f) == 4);
  nothing_else();
  free(line);
  fclose(f);
}

static int v_form(char *to, size_t n, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(to, n, format, arguments);
  va_end(arguments);
  return length;
}

static void prints(void) {
  const char *s = "value";
  begin();
  CHECK(sprintf(A, OPAQUE("%d %s"), 12, OPAQUE(s)) == 8);
  expect_write(area, 9, "sprintf");
  CHECK(snprintf(A, N(5), OPAQUE("%s %d"), OPAQUE(s), 5) == 7);
  expect_write(area, 5, "snprintf");
  CHECK(snprintf(A, N(0), OPAQUE("%s"), OPAQUE(s)) == 5);
  CHECK(v_form(A, N(100), "%c%c", 'a', 'b') == 2);
  expect_write(area, 3, "vsnprintf");
  nothing_else();
  text(0, "argument");
  const char *f = OPAQUE("%5d %-*s|%Lf %ld %hhd %.3s %% %g %p %.*s %zu %s\n");
  int length = snprintf(H, N(200), f, 1, 12, A, 2.5L, 1L, 'c', A, 0.5, (void *)0, 2, A, N(3), A);
  CHECK(length > 0 && !strncmp(H, "    1 argument    |2.5", 22));
  cover_read(area, 9);
  snprintf(H, N(200), OPAQUE("%d%.3s"), 1, A);
  expect_read(area, 3, "snprintf");
  snprintf(H, N(200), OPAQUE("%2$d %1$s"), A, 1); /* by position: not followed */
  nothing_else();
  FILE *null = fopen("/dev/null", "w");
  fprintf(null, OPAQUE("%s"), A);
  expect_read(area, 9, "fprintf");
  end();
  dprintf(fileno(null), OPAQUE("%s"), A);
  nothing_else();
  fclose(null);
}

static void scans(void) {
  begin();
  char *word = NULL;
  int *i = (int *)A;
  long *l = (long *)(A + 8);
  double *d = (double *)(A + 16);
  char *s = A + 32;
  CHECK(sscanf(OPAQUE("7 8 2.5 word rest"), OPAQUE("%d %ld %lf %9s"), i, l, d, s) == 4);
  CHECK(area[0] == 7);
  expect_write(area, 4, "sscanf");
  expect_write(area + 8, 8, "sscanf");
  expect_write(area + 16, 8, "sscanf");
  expect_write(area + 32, 5, "sscanf");
  cover_read(area, 1);
  CHECK(sscanf(OPAQUE("7 x"), OPAQUE("%d %d"), i, (int *)(area + 4)) == 1);
  expect_write(area, 4, "sscanf");
  CHECK(sscanf(OPAQUE("1 2 ab3"), OPAQUE("%*d%hd %[a-c]%2c"), (short *)A, s, area + 64) == 3);
  expect_write(area, 2, "sscanf");
  expect_write(area + 32, 3, "sscanf");
  expect_write(area + 64, 1, "sscanf"); /* the second character is not there */
  CHECK(sscanf(OPAQUE("w 5"), OPAQUE("%ms %d"), &word, i) == 2);
  expect_write(area, 4, "sscanf");
  nothing_else();
  free(word);
}

int main(void) {
  memory();
  strings();
  numbers();
  descriptors();
  streams();
  prints();
  scans();
  return finish();
}
