// Single words of a window, hundreds of them from one line in any order: some are used otherwise as
// well.
//# np: 3
#include <mpi.h>

enum { N = 500, STEP = 7 };

static int rank, window[3 * N];
static MPI_Win win;

/* The words are visited in steps of 7, so that none comes right behind another. */
static int word(int i) { return i * STEP % N; }

static void everything_once(int target) {
  static int out[N];
  for (int i = 0; i < N; i++)
    MPI_Put(&out[i], 1, MPI_INT, target, word(i), 1, MPI_INT, win); //~ CS-RMA-03 operation
}

static void one_word_twice(int target) {
  static int out[N + 1];
  for (int i = 0; i <= N; i++)
    MPI_Put(&out[i], 1, MPI_INT, target, N + word(i), 1, MPI_INT, win); //~ CS-RMA-04 operation //~ CS-RMA-04 access
}

static void read_backwards(int target) {
  static int in[N];
  for (int i = 0; i < N; i++)
    MPI_Get(&in[N - 1 - i], 1, MPI_INT, target, 2 * N + word(i), 1, MPI_INT, win); //~ CS-RMA-04 operation
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_fence(0, win);
  if (rank == 0) everything_once(1);
  if (rank == 1) window[N / 2] = 1; //~ CS-RMA-03 access ranks=1
  MPI_Win_fence(0, win);
  if (rank == 0) one_word_twice(1);
  MPI_Win_fence(0, win);
  if (rank == 0) read_backwards(2);
  MPI_Barrier(MPI_COMM_WORLD); // which ends no epoch
  int out = rank;
  if (rank == 1) MPI_Put(&out, 1, MPI_INT, 2, 3 * N - 1, 1, MPI_INT, win); //~ CS-RMA-04 access ranks=2
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
