// Each round creates a window; only the last is freed.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], out = 7;
  MPI_Win win;
  for (int round = 0; round < 3; round++) {
    MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win); //~ CS-WIN-05 operation
    MPI_Win_fence(0, win);
    MPI_Put(&out, 1, MPI_INT, 1 - rank, round, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
  }
  MPI_Win_free(&win);

  MPI_Finalize();
  return 0;
}
