// Without MPI_MODE_NOCHECK, exclusive locks order what is done under them.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], out = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  int assertion = 0;
  if (rank != 1) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, assertion, win);
    MPI_Put(&out, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    MPI_Win_unlock(1, win);
  }

  MPI_Win_free(&win);
  MPI_Finalize();
  return rank != 1 || window[0] == 7 ? 0 : 1;
}
