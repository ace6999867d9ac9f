// A loop gets a value that the next iteration tests: on all but the first, it may not be there.
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

  int value = 1, seen = 0;
  MPI_Win_lock_all(0, win);
  while (value < 10) { //~ CS-RMA-02 access
    seen++;
    MPI_Get(&value, 1, MPI_INT, peer, 0, 1, MPI_INT, win); //~ CS-RMA-02 operation //~ CS-BUF-04 operation //~ CS-BUF-04 access
  }
  MPI_Win_unlock_all(win);
  printf("%d\n", seen);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
