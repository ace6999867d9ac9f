// The request of an R-operation has not been waited for.
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

  int out[4] = {1, 2, 3, 4};
  MPI_Request request;
  MPI_Win_lock_all(0, win);
  MPI_Rput(out, 4, MPI_INT, peer, 0, 4, MPI_INT, win, &request); //~ CS-RMA-01 operation
  out[3] = 5; //~ CS-RMA-01 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
