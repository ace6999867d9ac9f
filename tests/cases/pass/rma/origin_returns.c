// The function waits until its variable has been read.
#include <mpi.h>

__attribute__((noinline)) static void publish(int value, int target, MPI_Win win) {
  int copy = 2 * value;
  MPI_Put(&copy, 1, MPI_INT, target, 0, 1, MPI_INT, win);
  MPI_Win_flush_local(target, win);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4];
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  publish(rank + 1, 1 - rank, win);
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return window[0] == 2 * (2 - rank) ? 0 : 1;
}
