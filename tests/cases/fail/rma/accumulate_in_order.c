// Accumulates of one origin are done in its order only if they are of one type.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int window[4], out = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  MPI_Accumulate(&out, 1, MPI_INT, peer, 0, 1, MPI_INT, MPI_SUM, win); //~ CS-RMA-04 operation
  MPI_Accumulate(&out, 4, MPI_BYTE, peer, 0, 4, MPI_BYTE, MPI_REPLACE, win); //~ CS-RMA-04 access
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
