// Local buffers of accumulates, and the results of atomic operations.
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

  int one = 1, two = 2, old = 0, seen = 0;
  MPI_Win_lock_all(0, win);
  MPI_Accumulate(&two, 1, MPI_INT, peer, 1, 1, MPI_INT, MPI_SUM, win);
  MPI_Fetch_and_op(&one, &old, MPI_INT, peer, 0, MPI_SUM, win);
  MPI_Win_flush_local_all(win);
  two = 3;
  seen = old;
  MPI_Win_unlock_all(win);
  printf("%d %d\n", seen, two);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
