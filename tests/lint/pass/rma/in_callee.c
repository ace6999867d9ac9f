// A callee uses what its caller has got.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int sum(const int *values, int n) {
  int all = 0;
  for (int i = 0; i < n; i++) {
    all += values[i];
  }
  return all;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  static int window[64];
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  int *local = malloc(4 * sizeof *local);
  MPI_Win_fence(0, win);
  MPI_Get(local, 4, MPI_INT, peer, 0, 4, MPI_INT, win);
  MPI_Win_fence(0, win);
  int all = sum(local, 4);
  printf("%d\n", all);
  free(local);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
