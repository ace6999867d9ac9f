// Owner and origin lock exclusively: either adds one to what the other has written.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], in, out;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Get(&in, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    MPI_Win_flush(1, win);
    out = in + 1;
    MPI_Put(&out, 1, MPI_INT, 1, 1, 1, MPI_INT, win);
    MPI_Win_unlock(1, win);
  } else {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    window[0] = window[1] + 1;
    MPI_Win_unlock(1, win);
  }

  MPI_Win_free(&win);
  MPI_Finalize();
  return rank == 0 || window[0] + window[1] == 3 ? 0 : 1;
}
