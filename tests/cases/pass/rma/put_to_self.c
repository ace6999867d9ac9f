// A put to oneself is complete after a flush.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], out = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  MPI_Put(&out, 1, MPI_INT, rank, 0, 1, MPI_INT, win);
  MPI_Win_flush(rank, win);
  int seen = window[0];
  MPI_Win_unlock(rank, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return seen == 7 ? 0 : 1;
}
