// Accumulates of one origin with different operations: they are done in its order (MPI 4.1
// §12.7.2).
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int window[4], out = 7, old;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  MPI_Accumulate(&out, 1, MPI_INT, peer, 0, 1, MPI_INT, MPI_REPLACE, win);
  MPI_Accumulate(&out, 1, MPI_INT, peer, 0, 1, MPI_INT, MPI_SUM, win);
  MPI_Fetch_and_op(&out, &old, MPI_INT, peer, 0, MPI_MAX, win);
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return old == 14 ? 0 : 1;
}
