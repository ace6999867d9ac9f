// Windows over even and odd ranks at once. Open MPI 4.1 crashes now and then: it gives both windows
// the same file of shared memory, named after a communicator's number.
//# np: 4
//# mpi: mpich
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], out;
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, half, &win);

  out = rank;
  MPI_Win_fence(0, win);
  if (rank < 2) MPI_Put(&out, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);

  MPI_Comm_free(&half);
  MPI_Win_free(&win);
  MPI_Finalize();
  return window[0] == (rank < 2 ? 0 : rank - 2) ? 0 : 1;
}
