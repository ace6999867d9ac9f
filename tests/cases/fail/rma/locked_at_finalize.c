// All targets are locked, and neither unlocked nor the window freed, when MPI ends. MPICH 4.0
// crashes
// over it.
//# mpi: openmpi
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int window[4], out = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win); //~ CS-WIN-05 operation

  MPI_Win_lock_all(0, win); //~ CS-WIN-04 operation
  MPI_Put(&out, 1, MPI_INT, peer, 0, 1, MPI_INT, win);
  MPI_Win_flush(peer, win);

  MPI_Finalize(); //~ CS-WIN-04 access
  return 0;
}
