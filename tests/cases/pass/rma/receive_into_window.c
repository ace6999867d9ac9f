// A message is received into window memory beside the part that another rank is putting into.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int window[8], out[4] = {7, 7, 7, 7};
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  int begin = 4;
  MPI_Request request;
  MPI_Win_fence(0, win);
  MPI_Irecv(window, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  MPI_Put(out, 4, MPI_INT, peer, begin, 4, MPI_INT, win);
  MPI_Send(out, 4, MPI_INT, peer, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return window[0] == 7 && window[7] == 7 ? 0 : 1;
}
