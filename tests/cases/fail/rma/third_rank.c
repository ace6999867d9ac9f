// Rank 2 gets what rank 0 put to rank 1, after a barrier, but the put is not complete.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], out = 7, in = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  if (rank == 0) {
    MPI_Put(&out, 1, MPI_INT, 1, 0, 1, MPI_INT, win); //~ CS-RMA-04 operation ranks=1
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2) {
    MPI_Get(&in, 1, MPI_INT, 1, 0, 1, MPI_INT, win); //~ CS-RMA-04 access ranks=1
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
