// Two ranks set a flag with MPI_REPLACE: atomic, whoever is last.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], out = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  if (rank == 0) {
    MPI_Accumulate(&out, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_REPLACE, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2) MPI_Accumulate(&out, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_REPLACE, win);
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return rank != 1 || window[0] == 7 ? 0 : 1;
}
