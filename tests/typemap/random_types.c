// Random datatypes, and every byte in and around them: `random_types SEED COUNT`.
//
// Which bytes a type touches is what MPI_Unpack changes. While an operation of that type is
// pending, the program touches bytes, alone and several at once, from functions of two kinds:
// those in the section `gap` must never be reported, each touch by the others once. It prints
// what rank 0's log has to say:
//
//   gap FROM TO                             offsets of the section in the program
//   type TAG COUNT MEETS ADDRESS SIZE BYTES TEXT
//                                           forbidden accesses to the buffer of the operation with
//                                           that tag, whether another one overlaps it, where it
//                                           lies, and how many bytes it touches
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REACH = 6000, REGION = 4 * 4096, PACKED = 8 * REGION, SITES = 256 };

static _Alignas(4096) unsigned char buffer[REGION];
static unsigned char member[REGION], other_member[REGION], packed[PACKED];

static uint64_t state;

static int below(int n) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (int)(state >> 20 & 0x7fffffff) % n;
}

static int between(int low, int high) { return low + below(high - low + 1); }

// ---- Types -------------------------------------------------------------------------------------

static char text[4096];
#define SAY(...) \
  do { \
    size_t said = strlen(text); \
    snprintf(text + said, sizeof text - said, __VA_ARGS__); \
  } while (0)

static void say_list(int n, const int *list) {
  for (int i = 0; i < n; i++) SAY("%s%d", i ? " " : "[", list[i]);
  SAY("%s,", n ? "]" : "[]");
}

// Without MPI_LONG_DOUBLE: whether its padding is copied depends on the way (MPICH).
static MPI_Datatype predefined(void) {
  struct { MPI_Datatype type; const char *name; } leaves[] = {
#define LEAF(type) {type, #type}
      LEAF(MPI_CHAR),        LEAF(MPI_BYTE),          LEAF(MPI_SHORT),     LEAF(MPI_INT),
      LEAF(MPI_FLOAT),       LEAF(MPI_DOUBLE),        LEAF(MPI_C_BOOL),    LEAF(MPI_WCHAR),
      LEAF(MPI_INT64_T),     LEAF(MPI_AINT),          LEAF(MPI_SHORT_INT), LEAF(MPI_SHORT_INT),
      LEAF(MPI_DOUBLE_INT),  LEAF(MPI_DOUBLE_INT),    LEAF(MPI_FLOAT_INT), LEAF(MPI_LONG_INT),
      LEAF(MPI_LONG_DOUBLE_INT), LEAF(MPI_2INT),      LEAF(MPI_REAL),      LEAF(MPI_DOUBLE_COMPLEX),
      LEAF(MPI_C_DOUBLE_COMPLEX), LEAF(MPI_2DOUBLE_PRECISION),
  };
  int i = below(sizeof leaves / sizeof *leaves);
  SAY("%s", leaves[i].name + 4);
  return leaves[i].type;
}

// Constructors, with large counts where MPI has them.
#if MPI_VERSION >= 4
static void *widen(int n, const int *list) {
  static MPI_Count lists[4][4];
  static int turn;
  MPI_Count *wide = lists[turn++ % 4];
  for (int i = 0; i < n; i++) wide[i] = list[i];
  return wide;
}
#define MAYBE_LARGE (below(3) == 0)
#define MAKE(name, ...) (large ? MPI_Type_##name##_c(__VA_ARGS__) : MPI_Type_##name(__VA_ARGS__))
#define COUNTS(n, list) (large ? widen(n, list) : (void *)(list))
#else
#define MAYBE_LARGE 0
#define MAKE(name, ...) MPI_Type_##name(__VA_ARGS__)
#define COUNTS(n, list) list
#endif

static MPI_Datatype random_type(int depth);

// Sizes in bytes of a few elements, so that blocks meet, nest and keep apart.
static MPI_Aint some_bytes(MPI_Datatype of) {
  MPI_Aint lb, extent;
  MPI_Type_get_extent(of, &lb, &extent);
  return between(-4, 6) * extent + (below(3) ? 0 : between(-9, 9));
}

static MPI_Datatype array(int distributed, int large, MPI_Datatype old) {
  int n = between(1, 3), order = below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  int sizes[3], a[3], b[3], grid[3], ranks = 1;
  MPI_Datatype type;
  memset(sizes, 0, sizeof sizes), memset(a, 0, sizeof a), memset(b, 0, sizeof b);
  for (int i = 0; i < n; i++) {
    sizes[i] = between(1, 7);
    if (!distributed) {
      a[i] = between(1, sizes[i]);
      b[i] = between(0, sizes[i] - a[i]);
      continue;
    }
    int kinds[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    a[i] = kinds[below(3)];
    grid[i] = a[i] == MPI_DISTRIBUTE_NONE ? 1 : between(1, 3);
    ranks *= grid[i];
    b[i] = MPI_DISTRIBUTE_DFLT_DARG;
    if (a[i] != MPI_DISTRIBUTE_NONE && below(2))
      b[i] = a[i] == MPI_DISTRIBUTE_BLOCK ? (sizes[i] + grid[i] - 1) / grid[i] + below(2)
                                          : between(1, 3);
  }
  SAY("%s,", order == MPI_ORDER_C ? "C" : "Fortran");
  say_list(n, sizes);
  say_list(n, a);
  say_list(n, b);
  if (distributed) {
    int rank = below(ranks);
    say_list(n, grid);
    SAY("rank %d)", rank);
    if (MAKE(create_darray, ranks, rank, n, COUNTS(3, sizes), a, b, grid, order, old, &type)) {
      // Open MPI 4.1 fails for some.
      SAY("?");
      MPI_Type_dup(old, &type);
    }
  } else {
    SAY(")");
    MAKE(create_subarray, n, COUNTS(3, sizes), COUNTS(3, a), COUNTS(3, b), order, old, &type);
  }
  return type;
}

static MPI_Datatype structure(int depth) {
  int n = between(0, 3), lengths[3] = {0};
  MPI_Aint at[3] = {0}, place = between(-40, 40);
  MPI_Datatype old[3], type;
  SAY("struct(");
  for (int i = 0; i < n; i++) {
    SAY("%s", i ? "," : "");
    old[i] = random_type(depth - 1);
    MPI_Aint lb, extent;
    MPI_Type_get_extent(old[i], &lb, &extent);
    lengths[i] = between(0, 2);
    at[i] = place;
    place += between(-1, 4) * extent + between(-3, 9);
    SAY("*%d@%ld", lengths[i], (long)at[i]);
  }
  SAY(")");
  int large = MAYBE_LARGE;
  if (large) SAY(" as large");
  MAKE(create_struct, n, COUNTS(3, lengths), (void *)at, old, &type);
  for (int i = 0; i < n; i++)
    if (old[i] != MPI_DATATYPE_NULL) {
      int a, b, c, combiner;
      MPI_Type_get_envelope(old[i], &a, &b, &c, &combiner);
      if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&old[i]);
    }
  return type;
}

static MPI_Datatype random_type(int depth) {
  if (depth == 0 || below(8) == 0) return predefined();
  int kind = below(14);
  if (kind == 0) return structure(depth);
  static const char *const names[] = {"", "contiguous", "vector", "hvector", "indexed", "hindexed",
                                      "indexed_block", "hindexed_block", "subarray", "darray",
                                      "resized", "dup", "vector", "subarray"};
  SAY("%s(", names[kind]);
  MPI_Datatype old = random_type(depth - 1), type;
  SAY(",");
  int n = between(0, 4), m = between(0, 3), lengths[4], places[4];
  MPI_Aint at[4], stride = some_bytes(old);
  if (below(4)) n = between(1, 4), m = between(1, 3);
  int step = between(-3, 6), place = between(-5, 5);
  MPI_Aint byte_place = between(-30, 30);
  for (int i = 0; i < 4; i++) {
    lengths[i] = between(0, 3);
    places[i] = place;
    at[i] = byte_place;
    place += between(-2, 6);
    byte_place += some_bytes(old);
  }
  // Open MPI 4.1 takes a distance of -1 byte for none.
  MPI_Aint old_lb, old_extent;
  MPI_Type_get_extent(old, &old_lb, &old_extent);
  if (stride == -1) stride = -2;
  if (step * old_extent == -1) step = -step;
  int distances[4];
  for (int i = 0; i < 4; i++) distances[i] = (int)at[i];
  int large = MAYBE_LARGE;
  if (large) SAY("as large,");
  switch (kind) {
  case 1:
    SAY("%d)", n);
    MAKE(contiguous, n, old, &type);
    break;
  case 2:
  case 12:
    SAY("%d,%d,%d)", n, m, step);
    MAKE(vector, n, m, step, old, &type);
    break;
  case 3:
    SAY("%d,%d,%ld)", n, m, (long)stride);
    MAKE(create_hvector, n, m, stride, old, &type);
    break;
  case 4:
    say_list(n, lengths);
    say_list(n, places);
    SAY(")");
    MAKE(indexed, n, COUNTS(4, lengths), COUNTS(4, places), old, &type);
    break;
  case 5:
    say_list(n, lengths);
    say_list(n, distances);
    SAY(")");
    MAKE(create_hindexed, n, COUNTS(4, lengths), (void *)at, old, &type);
    break;
  case 6:
    SAY("%d,", m);
    say_list(n, places);
    SAY(")");
    MAKE(create_indexed_block, n, m, COUNTS(4, places), old, &type);
    break;
  case 7:
    SAY("%d,", m);
    say_list(n, distances);
    SAY(")");
    MAKE(create_hindexed_block, n, m, (void *)at, old, &type);
    break;
  case 8:
  case 9:
  case 13:
    type = array(kind == 9, large, old);
    break;
  case 10: {
    MPI_Aint lb, extent, low = between(-20, 20);
    MPI_Type_get_extent(old, &lb, &extent);
    // Shorter than what the type spans, so that elements interlock, or longer.
    MPI_Aint new = below(2) ? extent + between(-8, 20) : between(1, 24);
    if (new == -1) new = 1;
    SAY("%ld,%ld)", (long)low, (long)new);
    MAKE(create_resized, old, low, new, &type);
    break;
  }
  default:
    SAY(")");
    MPI_Type_dup(old, &type);
  }
  int a, b, c, combiner;
  MPI_Type_get_envelope(old, &a, &b, &c, &combiner);
  if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&old);
  return type;
}

// ---- What a type touches -----------------------------------------------------------------------

struct operation {
  unsigned char *at;
  int count;
  MPI_Datatype type;
  int low, high;     // first byte and past the last, in the buffer
  int bytes;         // with repetitions
  int repeats;       // whether some byte is touched twice
};

// Whether all lies within reach of the buffer's middle.
static int fits(const struct operation *o) {
  MPI_Count lb, extent, true_lb, true_extent, size;
  MPI_Type_size_x(o->type, &size);
  MPI_Type_get_extent_x(o->type, &lb, &extent);
  MPI_Type_get_true_extent_x(o->type, &true_lb, &true_extent);
  if (size == 0 || o->count == 0) return 1;
  MPI_Count last = extent * (o->count - 1);
  MPI_Count low = true_lb + (last < 0 ? last : 0);
  MPI_Count high = true_lb + true_extent + (last > 0 ? last : 0);
  return -REACH < low && high < REACH && size * o->count < PACKED / 2;
}

// Every byte of the buffer that the operation would change.
static void ask(struct operation *o, unsigned char *touched) {
  int size, all;
  MPI_Type_size(o->type, &size);
  MPI_Pack_size(o->count, o->type, MPI_COMM_SELF, &all);
  if (all > PACKED) abort();
  memset(touched, 0, REGION);
  // MPICH 4.0 divides by the size.
  for (int ones = 0; ones < 2 && size * o->count > 0; ones++) {
    memset(buffer, ones ? 0 : 0xff, sizeof buffer);
    memset(packed, ones ? 0xff : 0, sizeof packed);
    int position = 0;
    MPI_Unpack(packed, sizeof packed, &position, o->at, o->count, o->type, MPI_COMM_SELF);
    for (int i = 0; i < REGION; i++) {
      int changed = buffer[i] == (ones ? 0xff : 0);
      if (ones && touched[i] != changed) {
        fprintf(stderr, "what %s touches depends on what it is\n", text);
        abort();
      }
      touched[i] = changed;
    }
  }
  o->low = o->high = 0;
  int different = 0;
  for (int i = 0; i < REGION; i++)
    if (touched[i]) {
      if (!different++) o->low = i;
      o->high = i + 1;
    }
  o->bytes = size * o->count;
  o->repeats = different < o->bytes;
}

// ---- Operations, each begun by a call of its own ------------------------------------------------

enum kind { RECEIVE, SEND, PERSISTENT };

// The comments keep compilers from merging the calls.
#define BEGIN(n) \
  case n: \
    if (kind == RECEIVE) { \
      __asm__ volatile("# receive " #n); \
      MPI_Irecv(at, o->count, o->type, 0, n, MPI_COMM_SELF, request); \
      __asm__ volatile("# receive " #n); \
    } else if (kind == SEND) { \
      __asm__ volatile("# send " #n); \
      MPI_Isend(at, o->count, o->type, 0, n, MPI_COMM_SELF, request); \
      __asm__ volatile("# send " #n); \
    } else { \
      MPI_Recv_init(at, o->count, o->type, 0, n, MPI_COMM_SELF, request); \
      __asm__ volatile("# start " #n); \
      MPI_Start(request); \
      __asm__ volatile("# start " #n); \
    } \
    break;
// One for each octal number of three digits.
#define SOME(n) BEGIN(n##0) BEGIN(n##1) BEGIN(n##2) BEGIN(n##3) BEGIN(n##4) BEGIN(n##5) \
  BEGIN(n##6) BEGIN(n##7)
#define MANY(n) SOME(n##0) SOME(n##1) SOME(n##2) SOME(n##3) SOME(n##4) SOME(n##5) \
  SOME(n##6) SOME(n##7)
#define ALL MANY(00) MANY(01) MANY(02) MANY(03)

static void begin(int tag, enum kind kind, void *at, const struct operation *o,
                  MPI_Request *request) {
  switch (tag) {
    ALL
  default: abort();
  }
}

// ---- Touching
// ------------------------------------------------------------------------------------

struct __attribute__((packed)) two { uint16_t value; };
struct __attribute__((packed)) four { uint32_t value; };
struct __attribute__((packed)) eight { uint64_t value; };

#define TOUCH(name, attribute) \
  __attribute__((noinline)) attribute static void name(unsigned char *at, int size, int load) { \
    uint64_t value = 1; \
    switch (load ? -size : size) { \
    case 1: *(volatile unsigned char *)at = 1; break; \
    case 2: ((volatile struct two *)at)->value = 1; break; \
    case 4: ((volatile struct four *)at)->value = 1; break; \
    case 8: ((volatile struct eight *)at)->value = 1; break; \
    case -1: value = *(volatile unsigned char *)at; break; \
    case -2: value = ((volatile struct two *)at)->value; break; \
    case -4: value = ((volatile struct four *)at)->value; break; \
    case -8: value = ((volatile struct eight *)at)->value; break; \
    default: load ? memmove(packed, at, size) : memset(at, 1, size); \
    } \
    __asm__ volatile("" : : "r"(value)); \
  }
#define BARRED __attribute__((section("gap")))
TOUCH(touch_member, )
TOUCH(touch_gap, BARRED)

// A second operation, which never gets a message.
#define RECEIVE_TOO(name, attribute) \
  __attribute__((noinline)) attribute static void name(const struct operation *o) { \
    MPI_Request request; \
    MPI_Irecv(o->at, o->count, o->type, 0, SITES + 1, MPI_COMM_SELF, &request); \
    MPI_Cancel(&request); \
    MPI_Wait(&request, MPI_STATUS_IGNORE); \
  }
RECEIVE_TOO(receive_member, )
RECEIVE_TOO(receive_gap, BARRED)

extern char __start_gap[], __stop_gap[];

// Touches everything once by the byte and some of it in larger pieces; counts what is wrong.
static int touch(const struct operation *o, enum kind kind) {
  int wrong = 0;
  int low = o->bytes ? o->low - 24 : REGION / 2, high = o->bytes ? o->high + 24 : low + 8;
  for (int i = low; i < high; i++)
    for (int load = 0; load < 2; load++) {
      int forbidden = member[i] && !(load && kind == SEND);
      (forbidden ? touch_member : touch_gap)(buffer + i, 1, load);
      wrong += forbidden;
    }
  int sizes[] = {2, 4, 8, 8, 16, 0};
  for (int n = 0; n < 300; n++) {
    int i = between(low, high), size = sizes[below(6)], load = below(2), any = 0;
    if (size == 0) size = between(3, 90);
    for (int k = i; k < i + size; k++) any |= member[k];
    int forbidden = any && !(load && kind == SEND);
    (forbidden ? touch_member : touch_gap)(buffer + i, size, load);
    wrong += forbidden;
  }
  return wrong;
}

// A random operation within reach.
static void invent(struct operation *o) {
  for (;;) {
    text[0] = 0;
    o->count = below(3) ? 1 : between(0, 5);
    SAY("%d ", o->count);
    o->at = buffer + REGION / 2 + between(-100, 100);
    o->type = random_type(between(1, 3));
    if (fits(o)) break;
    int a, b, c, combiner;
    MPI_Type_get_envelope(o->type, &a, &b, &c, &combiner);
    if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&o->type);
  }
  int a, b, c, combiner;
  MPI_Type_get_envelope(o->type, &a, &b, &c, &combiner);
  if (combiner == MPI_COMBINER_NAMED) MPI_Type_dup(o->type, &o->type);
  MPI_Type_commit(&o->type);
}

// The same operation at absolute addresses.
static void place(struct operation *o) {
  MPI_Datatype old = o->type;
  MPI_Aint address;
  MPI_Get_address(o->at, &address);
  if (below(2)) {
    SAY(" by hindexed from MPI_BOTTOM");
    MPI_Type_create_hindexed(1, &o->count, &address, old, &o->type);
  } else {
    SAY(" by struct from MPI_BOTTOM");
    MPI_Type_create_struct(1, &o->count, &address, &old, &o->type);
  }
  MPI_Type_commit(&o->type);
  MPI_Type_free(&old);
  o->count = 1;
  o->at = MPI_BOTTOM;
}

static void one(int tag) {
  struct operation o, other;
  invent(&other);
  invent(&o);
  ask(&other, other_member);
  ask(&o, member);
  // Received elements may not overlap (MPI 4.1 §5.1.11).
  enum kind kind = o.repeats ? SEND : (enum kind)below(3);
  int size = o.bytes, again = below(3) == 0, early = below(2);
  if (again && !other.repeats) {
    // Two of the same type, elsewhere: neighbouring columns and such.
    MPI_Type_free(&other.type);
    other = o;
    other.at += between(-24, 24);
    MPI_Type_dup(o.type, &other.type);
    ask(&other, other_member);
  }
  if (below(6) == 0) place(&o);

  MPI_Request request;
  begin(tag, kind, o.at, &o, &request);
  if (early) MPI_Type_free(&o.type);
  int wrong = touch(&o, kind), meets = 0;
  if (!other.repeats) {
    int meet = 0;
    for (int i = 0; i < REGION; i++) meet |= member[i] & other_member[i];
    (meet ? receive_member : receive_gap)(&other);
    meets = meet;
  }
  if (kind == SEND) {
    MPI_Recv(packed, size, MPI_PACKED, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(packed, size, MPI_PACKED, 0, tag, MPI_COMM_SELF);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (kind == PERSISTENT) MPI_Request_free(&request);
  if (!early) MPI_Type_free(&o.type);
  MPI_Type_free(&other.type);
  // Complete: all is free again.
  for (int i = 0; i < REGION; i += 5) touch_gap(buffer + i, 1, 0);
  static const char *const kinds[] = {"MPI_Irecv", "MPI_Isend", "MPI_Recv_init"};
  printf("type %d %d %d %ld %d %d %s %s%s\n", tag, wrong, meets, (long)(buffer + o.low), o.high - o.low,
         o.bytes, kinds[kind], text, early ? ", freed early" : "");
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  state = argc > 1 ? strtoull(argv[1], 0, 0) * 0x9e3779b97f4a7c15 + 1 : 1;
  int count = argc > 2 ? atoi(argv[2]) : 32;
  Dl_info module;
  dladdr((void *)touch_gap, &module);
  printf("gap %ld %ld\n", (long)(__start_gap - (char *)module.dli_fbase),
         (long)(__stop_gap - (char *)module.dli_fbase));
  for (int tag = 0; tag < count && tag < SITES; tag++) one(tag);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
