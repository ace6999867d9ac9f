// A get writes into a buffer that is being sent.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int window[4] = {7}, buffer[4], in[4];
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Request request;
  MPI_Win_fence(0, win);
  MPI_Isend(buffer, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-04 operation
  MPI_Get(&buffer[2], 1, MPI_INT, peer, 0, 1, MPI_INT, win); //~ CS-BUF-04 access
  MPI_Recv(in, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
