// The result of a get is sent on before the get is complete.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int window[4] = {7}, result, in;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win);
  MPI_Get(&result, 1, MPI_INT, peer, 0, 1, MPI_INT, win); //~ CS-BUF-04 operation
  MPI_Sendrecv(&result, 1, MPI_INT, peer, 0, &in, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-BUF-04 access
  MPI_Win_unlock(peer, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
