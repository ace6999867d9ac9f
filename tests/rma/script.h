// What the scripts of crates/commsan/tests/rma.rs are made of. Each step is one line of its own.
#include <mpi.h>

enum { MEMORY = 128 };

// Displacements in bytes or ints, as the script's windows have it.
static _Alignas(64) unsigned char memory[MEMORY], private[MEMORY];
// What windows expose; in shared memory, each rank's part.
static unsigned char *window = memory, *part[4];
static MPI_Win win[2];
static MPI_Request request[64];
static MPI_Datatype spaced_byte, spaced_int;
static int rank, size, compare;

// So many times, but the compiler does not know.
static volatile int once = 1;
// Each number is its own, which the compiler does not know either.
static int index_of[MEMORY];

// Every `step`th element from an address on. Each is accessed as it stands there: the compiler can
// know nothing of memory from before or after.
#define EACH(type, at, count, index, statement)                                                    \
  do {                                                                                             \
    type *const from = (type *)(at);                                                               \
    const int times = (count) * once;                                                              \
    int sum = 0;                                                                                   \
    for (int i = 0; i < times; i++) {                                                              \
      type *const element = from + (index);                                                        \
      statement;                                                                                   \
    }                                                                                              \
    __asm__ volatile("" ::"r"(sum) : "memory");                                                    \
  } while (0)
#define LOAD(type, at, count, step) EACH(type, at, count, i *(step), sum += *element)
#define STORE(type, at, count, step)                                                               \
  EACH(type, at, count, i *(step), *element = (type)(__LINE__ + i))
// The same, by way of a table.
#define GATHER(type, at, count, step) EACH(type, at, count, index_of[i] * (step), sum += *element)
#define SCATTER(type, at, count, step)                                                             \
  EACH(type, at, count, index_of[i] * (step), *element = (type)(__LINE__ + i))

static MPI_Group group(unsigned ranks) {
  static MPI_Group all, groups[16];
  int members[4], count = 0;
  for (int r = 0; r < 4; r++) {
    if (ranks >> r & 1) members[count++] = r;
  }
  if (!groups[ranks]) {
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, count, members, &groups[ranks]);
    MPI_Group_free(&all);
  }
  return groups[ranks];
}

static inline void send_to(int to, int tag) {
  int token = 0;
  MPI_Send(&token, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
}

static inline void send_synchronously(int to, int tag) {
  int token = 0;
  MPI_Ssend(&token, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
}

static inline void receive(int from, int tag) {
  int token;
  MPI_Recv(&token, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static inline void nonblocking_barrier(void) {
  MPI_Request barrier;
  MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
  MPI_Wait(&barrier, MPI_STATUS_IGNORE);
}

static inline void broadcast(int root) {
  int token = 0;
  MPI_Bcast(&token, 1, MPI_INT, root, MPI_COMM_WORLD);
}

static inline void reduce(int root) {
  int token = 0, sum;
  MPI_Reduce(&token, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
}

static inline void reduce_to_all(void) {
  int token = 0, sum;
  MPI_Allreduce(&token, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static inline void open_window(int number, int at, int bytes, int unit) {
  window = memory;
  MPI_Win_create(window + at, bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win[number]);
}

static inline void open_shared(int bytes, int unit) {
  MPI_Win_allocate_shared(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &window, win);
  for (int r = 0; r < size; r++) {
    MPI_Aint theirs;
    MPI_Win_shared_query(*win, r, &theirs, &unit, &part[r]);
  }
}

static void begin(int *argc, char ***argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < MEMORY; i++) index_of[i] = i;
  MPI_Type_vector(2, 1, 2, MPI_BYTE, &spaced_byte);
  MPI_Type_vector(2, 1, 2, MPI_INT, &spaced_int);
  MPI_Type_commit(&spaced_byte);
  MPI_Type_commit(&spaced_int);
}

static int end(void) {
  MPI_Type_free(&spaced_byte);
  MPI_Type_free(&spaced_int);
  return MPI_Finalize();
}
