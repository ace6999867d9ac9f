// Put before put of the same buffer.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, window[8] = {0}, local[4] = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_fence(0, win);
  MPI_Put(local, 4, MPI_INT, peer, 0, 4, MPI_INT, win);
  MPI_Put(local, 4, MPI_INT, peer, 4, 4, MPI_INT, win);
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return local[0];
}
