/* C as compilers translate it: however they split an access, its bytes are reported exactly, from
 * the function that makes it. */
#include "harness.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

struct large {
  int values[200];
};
struct __attribute__((packed)) odd {
  char c;
  int64_t value;
};
struct bits {
  unsigned a : 3, b : 29;
};

static __attribute__((noinline)) int load(int *p) { return *p; }
static __attribute__((noinline)) void store(volatile int *p, int v) { *p = v; }
static __attribute__((noinline)) void increment(int *p) { ++*p; }
static __attribute__((noinline)) void copy(struct large *to, const struct large *from) {
  *to = *from;
}
static __attribute__((noinline)) void copy_bytes(void *to, const void *from) {
  memcpy(to, from, 24);
}
static __attribute__((noinline)) void clear_bytes(void *to) { memset(to, 0, 40); }
static __attribute__((noinline)) void copy_text(char *to) { strcpy(to, "fourteen bytes"); }
static __attribute__((noinline)) void fill(double *p, int n) {
  for (int i = 0; i < n; i++) p[i] = 1;
}
static __attribute__((noinline)) void scale(double *p, const double *q, int n) {
  for (int i = 0; i < n; i++) p[i] = 2 * q[i];
}
static __attribute__((noinline)) void masked(int *p, const int *q, int n) {
  for (int i = 0; i < n; i++)
    if (q[i]) p[i] = q[i] + 1;
}
static const void *frame_of_touch;
static __attribute__((noinline)) void touch(int *p) {
  frame_of_touch = __builtin_frame_address(0);
  *p = 1;
}
static __attribute__((noinline)) void inner(int **p) {
  int local = 3;
  left[8] = __builtin_frame_address(0);
  *p = &local;
  __asm__ volatile("" : : "r"(p) : "memory");
}
static __attribute__((noinline)) void outer(void) {
  int *p;
  left[9] = __builtin_frame_address(0);
  inner(&p); /* a call in tail position must not run after our own exit hook */
}

/* Elements of arrays and structures whose address somebody else has. */
static __attribute__((noinline)) int on_the_stack(int i) {
  struct large local;
  struct {
    int first, second;
  } pair;
  begin();
  watch(OPAQUE(&local), sizeof local);
  watch(OPAQUE(&pair), sizeof pair);
  local.values[3] = 5;
  pair.second = 6;
  CHECK(touches(1, &local.values[3]) && touches(1, &pair.second));
  CHECK(local.values[i] == 5);
  CHECK(touches(0, &local.values[3]));
  begin();
  return 0;
}

int main(void) {
  int *ints = (int *)area;
  double *doubles = (double *)(area + 4096);

  begin();
  CHECK(load(ints + 3) == 0x78787878);
  cover_read(ints + 3, 4);
  store(ints + 5, 7);
  cover_write(ints + 5, 4);
  nothing_else();

  increment(ints);
  cover_write(ints, 4);

  begin();
  struct odd *odd = (struct odd *)(area + 4090);
  odd->value = 5;
  cover_write(area + 4091, 8);
  CHECK(OPAQUE(odd)->value == 5);
  cover_read(area + 4091, 8);

  begin();
  copy((struct large *)(area + 4096), (struct large *)area);
  cover_read(area, sizeof(struct large));
  cover_write(area + 4096, sizeof(struct large));

  begin();
  char other[64] = {1, 2, 3};
  copy_bytes(area + 5, OPAQUE(&other[0]));
  cover_write(area + 5, 24);
  copy_bytes(OPAQUE(&other[0]), area + 4085);
  cover_read(area + 4085, 24);
  clear_bytes(area + 1);
  cover_write(area + 1, 40);
  copy_text(area + 7);
  cover_write(area + 7, 15);
  nothing_else();

  begin();
  fill(doubles, 101);
  cover_write(doubles, 101 * 8);
  scale((double *)area, doubles, 37);
  cover_read(doubles, 37 * 8);
  cover_write(area, 37 * 8);
  masked(ints, (int *)doubles, 43);
  cover_read(doubles, 43 * 4);
  begin();
  masked(ints, (int *)doubles, 43);
  cover_write(ints, 43 * 4);

  begin();
  struct bits *bits = (struct bits *)area;
  OPAQUE(bits)->b = 1;
  end();
  begin();
  CHECK(atomic_fetch_add((atomic_int *)ints, 1) == 0x78787878);
  expect_write(ints, 4, NULL);
  CHECK(ints[0] == 0x78787879);
  end();

  begin();
  touch(ints);
  end();
  CHECK(last_frame == frame_of_touch);
  CHECK((uintptr_t)last_pc - (uintptr_t)touch < 0x1000);

  watch_returns(1);
  outer();
  watch_returns(0);
  CHECK(left_count == 2 && left[0] == left[8] && left[1] == left[9]);
  on_the_stack(OPAQUE(3));
  return finish();
}
