// The fence is of another window than the operation.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  static int window[64];
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  static int second[4];
  int value = 0;
  MPI_Win other;
  MPI_Win_create(second, sizeof second, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &other);
  MPI_Win_fence(0, win);
  MPI_Win_fence(0, other);
  MPI_Get(&value, 1, MPI_INT, peer, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  printf("%d\n", value);
  MPI_Win_fence(0, other);
  MPI_Win_free(&other);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
