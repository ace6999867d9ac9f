// Results of gets are used after the gets are complete (fences).
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int window[5] = {1, 2, 3, 4}, result[4];
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_fence(0, win);
  MPI_Get(&result[0], 1, MPI_INT, peer, 0, 1, MPI_INT, win);
  MPI_Get(&result[1], 1, MPI_INT, peer, 1, 1, MPI_INT, win);
  MPI_Get(&result[2], 1, MPI_INT, peer, 2, 1, MPI_INT, win);
  MPI_Get(&result[3], 1, MPI_INT, peer, 3, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  int seen = result[0];
  result[1] = 7;
  MPI_Get(&result[2], 1, MPI_INT, peer, 2, 1, MPI_INT, win);
  MPI_Put(&result[3], 1, MPI_INT, peer, 4, 1, MPI_INT, win);
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return seen == 1 && result[1] == 7 && result[2] == 3 && window[4] == 4 ? 0 : 1;
}
