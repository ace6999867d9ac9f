// The local buffer of MPI_Put_c is reused before the flush.
//# mpi: mpich
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int window[4], out[4] = {7, 7, 7, 7};
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  MPI_Put_c(out, 4, MPI_INT, peer, 0, 4, MPI_INT, win); //~ CS-RMA-01 operation
  out[3] = 8; //~ CS-RMA-01 access
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
