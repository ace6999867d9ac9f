// Atomics of all kinds on one counter, at once from all ranks, its owner too.
//# np: 3
#include <mpi.h>
#include <stddef.h>

enum { ROUNDS = 20 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static long window[2], one = 1;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  long last = -1, seen, in_between;
  int rising = 1;
  for (int round = 0; round < ROUNDS; round++) {
    MPI_Fetch_and_op(&one, &seen, MPI_LONG, 1, 0, MPI_SUM, win);
    MPI_Fetch_and_op(NULL, &in_between, MPI_LONG, 1, 0, MPI_NO_OP, win);
    MPI_Accumulate(&one, 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_flush_local(1, win);
    rising &= last < seen && seen < in_between;
    MPI_Get_accumulate(&one, 1, MPI_LONG, &last, 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_flush(1, win);
    rising &= in_between < last;
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return rising && (rank != 1 || window[0] == 3 * 3 * ROUNDS) ? 0 : 1;
}
