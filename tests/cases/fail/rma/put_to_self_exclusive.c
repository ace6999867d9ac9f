// A lock on one's own window keeps others out, not one's own put.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], out[2] = {7, 8};
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
  int seen = window[1];
  MPI_Put(out, 2, MPI_INT, rank, 0, 2, MPI_INT, win); //~ CS-RMA-03 operation
  seen += window[0]; //~ CS-RMA-03 access
  MPI_Win_unlock(rank, win);

  printf("%d\n", seen);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
