// What C++ adds to shapes.c: objects that functions build in place, and exceptions.
extern "C" {
#include "harness.h"
}
#include <new>
#include <string>
#include <vector>

#define APART __attribute__((noinline, noclone))

struct Plain {
  double values[4];
};
struct Built {
  double values[12];
  Built(double v) {
    for (double &value : values) value = v;
  }
  Built(const Built &other) : Built(other.values[0]) {}
};

APART Built make(double v) { return Built(v); }
APART Plain make_plain(double v) { return {{v, v, v, v}}; }
APART void build_at(void *p) { new (p) Built(make(3)); }
APART void build_plain(Plain *p) { *p = make_plain(2); }
APART double by_value(Plain p) { return p.values[0] + p.values[3]; }
APART double pass(const Plain *p) { return by_value(*p); }

static void objects() {
  begin();
  build_at(area);
  cover_write(area, sizeof(Built));
  build_plain((Plain *)(area + 8));
  cover_write(area + 8, sizeof(Plain));
  CHECK(pass((Plain *)(area + 8)) == 4);
  cover_read(area + 8, sizeof(Plain));
  nothing_else();
}

APART int called(int n, int (*function)(void *), void *p) { return n ? function(p) : 0; }

static void closures() {
  int *ints = (int *)area;
  begin();
  auto increment = [&](int by) { ints[2] += by; };
  increment(OPAQUE(4));
  cover_write(ints + 2, 4);
  called(1, [](void *p) { return ((int *)p)[5]; }, area);
  CHECK(touches(0, ints + 5));
}

APART void fail_if(int n) {
  if (n > 2) throw n;
}
APART void unwound(int n) {
  int local[4];
  left[8] = __builtin_frame_address(0);
  OPAQUE(&local[0]);
  fail_if(n);
  local[1] = n;
}
struct Guard {
  int *p;
  ~Guard() { *p = 1; }
};
APART void guarded(int n, int *p) {
  Guard guard{p};
  left[9] = __builtin_frame_address(0);
  OPAQUE(&guard);
  fail_if(n);
}
// Inlined: it does not leave a frame of its own.
static inline void inlined(int n) {
  int local[4];
  OPAQUE(&local[0]);
  fail_if(n);
}
APART int catches(int n) {
  try {
    inlined(n);
  } catch (int thrown) {
    return thrown;
  }
  return 0;
}

static void exceptions() {
  int caught = 0;
  watch_returns(1);
  try {
    unwound(OPAQUE(3));
  } catch (int n) {
    caught = n;
  }
  CHECK(caught == 3 && left_count == 1 && left[0] == left[8]);
  left_count = 0;
  begin();
  try {
    guarded(OPAQUE(3), (int *)area);
  } catch (int n) {
    caught = n + 1;
  }
  CHECK(caught == 4 && left_count == 1 && left[0] == left[9]);
  CHECK(touches(1, area));
  left_count = 0;
  CHECK(catches(OPAQUE(5)) == 5);
#ifdef __OPTIMIZE__
  CHECK(left_count <= 1);
#endif
  watch_returns(0);
}

static void library() {
  begin();
  end();
  std::vector<double> v(100);
  begin();
  watch(v.data(), 800);
  for (size_t i = 0; i < v.size(); i++) v[i] = i;
  unwatch(v.data(), 800);
  CHECK(touches(1, &v[0]) && touches(1, &v[99]));
  begin();
  std::string text = "a text that is too long for the object itself";
  CHECK(text.size() == 45);
}

int main() {
  objects();
  closures();
  exceptions();
  library();
  return finish();
}
