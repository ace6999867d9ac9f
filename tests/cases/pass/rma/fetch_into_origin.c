// The result of a fetch goes elsewhere; where nothing is combined, the operand is not used, and may
// be the result.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static long window[2], both[2] = {1, 1};
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock(MPI_LOCK_SHARED, 1 - rank, 0, win);
  MPI_Fetch_and_op(both, both + 1, MPI_LONG, 1 - rank, 0, MPI_SUM, win);
  MPI_Win_flush(1 - rank, win);
  MPI_Fetch_and_op(both, both, MPI_LONG, 1 - rank, 1, MPI_NO_OP, win);
  MPI_Win_unlock(1 - rank, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
