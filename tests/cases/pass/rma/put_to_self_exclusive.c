// A rank locks its own window exclusively, and completes its put before it loads.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], out[2] = {7, 8};
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
  int seen = window[1];
  MPI_Put(out, 2, MPI_INT, rank, 0, 2, MPI_INT, win);
  MPI_Win_flush(rank, win);
  seen += window[0];
  MPI_Win_unlock(rank, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return seen == 7 ? 0 : 1;
}
