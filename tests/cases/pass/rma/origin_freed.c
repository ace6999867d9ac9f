// The local buffer of a put is freed after the fence.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4];
  int *out = calloc(4, sizeof *out);
  out[3] = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_fence(0, win);
  MPI_Put(out, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win);
  MPI_Win_fence(0, win);
  free(out);

  MPI_Win_free(&win);
  MPI_Finalize();
  return window[3] == 7 ? 0 : 1;
}
