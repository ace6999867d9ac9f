// Fences that promise what comes before and after them.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int window[4], out = 7, in;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  window[1] = rank + 1;
  MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
  MPI_Put(&out, 1, MPI_INT, peer, 0, 1, MPI_INT, win);
  MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT, win);
  MPI_Get(&in, 1, MPI_INT, peer, 1, 1, MPI_INT, win);
  MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOSUCCEED, win);
  int seen = window[0];
  window[1] = in;
  MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
  MPI_Get(&in, 1, MPI_INT, peer, 1, 1, MPI_INT, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return seen == 7 && in == rank + 1 ? 0 : 1;
}
