// Both targets are locked.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], out = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
    MPI_Put(&out, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    MPI_Put(&out, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
    MPI_Win_unlock(2, win);
    MPI_Win_unlock(1, win);
  }

  MPI_Win_free(&win);
  MPI_Finalize();
  return window[0] == (rank ? 7 : 0) ? 0 : 1;
}
