// What a freed request would have taught is not what a later one of the same handle teaches.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[64], out = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  for (int round = 0; round < 16; round++) {
    MPI_Request request;
    if (rank == 0) {
      MPI_Put(&out, 1, MPI_INT, 1, 4 * round, 1, MPI_INT, win);
      MPI_Win_flush(1, win);
      MPI_Send(&out, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
      MPI_Issend(&out, 0, MPI_INT, 2, 1, MPI_COMM_WORLD, &request);
      MPI_Request_free(&request);
      MPI_Recv(&out, 0, MPI_INT, 2, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Irecv(&out, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      sum += window[4 * round];
    } else {
      MPI_Recv(&out, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&out, 0, MPI_INT, 1, 2, MPI_COMM_WORLD);
    }
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return rank != 1 || sum == 7 * 16 ? 0 : 1;
}
