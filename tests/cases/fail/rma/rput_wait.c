// The request of MPI_Rput tells that the local buffer is free, not that the data arrived.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], out = 7;
  int seen = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  if (rank == 0) {
    MPI_Request request;
    MPI_Rput(&out, 1, MPI_INT, 1, 0, 1, MPI_INT, win, &request); //~ CS-RMA-03 operation ranks=1
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    out = 8;
    MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_sync(win);
    seen = window[0]; //~ CS-RMA-03 access ranks=1
  }
  MPI_Win_unlock_all(win);

  printf("%d\n", seen);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
