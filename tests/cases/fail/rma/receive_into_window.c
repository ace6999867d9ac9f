// A message is received into window memory that another rank is putting into.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int window[8], out[4] = {7, 7, 7, 7};
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  int begin = 3;
  MPI_Request request;
  MPI_Win_fence(0, win);
  MPI_Irecv(window, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &request); //~ CS-RMA-03 access
  MPI_Put(out, 4, MPI_INT, peer, begin, 4, MPI_INT, win); //~ CS-RMA-03 operation
  MPI_Send(out, 4, MPI_INT, peer, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
