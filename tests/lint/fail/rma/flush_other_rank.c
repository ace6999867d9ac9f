// A flush that names another target than the operation completes nothing of it.
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

  int value = 0;
  MPI_Win_lock_all(0, win);
  MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); //~ CS-RMA-02 operation
  MPI_Win_flush(0, win);
  printf("%d\n", value); //~ CS-RMA-02 access
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
