/* The harness, as Fortran programs call it. */
#include "harness.h"

#include <string.h>

void *area_at(int offset) { return area + offset; }
void watch_area(void) { begin(); }
void forget(void) { end(), begin(); }
void nothing_more(int line) { nothing_at(line); }

void wrote(int line, const void *p, size_t size, const char *by) {
  if (!strcmp(by, "covers")) cover_at(line, 1, p, 800);
  else expect_at(line, 1, p, size, by);
}

void did_read(int line, const void *p, size_t size, const char *by) {
  expect_at(line, 0, p, size, by);
}

/* 2: one write of exactly that. */
void covers(int line, int write, const void *p, size_t size) {
  if (write == 2) expect_at(line, 1, p, size, NULL);
  else cover_at(line, write, p, size);
}
void covers_write(int line, const void *p, size_t size) { cover_at(line, 1, p, size); }
void covers_read(int line, const void *p, size_t size) { cover_at(line, 0, p, size); }
int touched(int write, const void *p) { return touches(write, p); }
void watch_more(const void *p, size_t size) { watch(p, size); }
void unwatch_more(const void *p, size_t size) { unwatch(p, size); }
