// In the separate memory model, owners store into windows in epochs of their own.
//# options: --memory-model separate
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int window[16], out = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_fence(0, win);
  window[9] = rank;
  MPI_Win_fence(0, win);
  MPI_Put(&out, 1, MPI_INT, peer, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  int sum = window[0] + window[9];

  MPI_Win_free(&win);
  MPI_Finalize();
  return sum == 7 + rank ? 0 : 1;
}
