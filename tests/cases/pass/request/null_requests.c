// Null and inactive requests complete at once and say nothing about others.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int out[2] = {7}, in[2];
  int index, done;
  MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Send_init(out, 2, MPI_INT, peer, 9, MPI_COMM_WORLD, &requests[1]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  MPI_Test(&requests[1], &done, MPI_STATUS_IGNORE);
  MPI_Irecv(in, 2, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Send(out, 2, MPI_INT, peer, 0, MPI_COMM_WORLD);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  in[1] = in[0];
  MPI_Request_free(&requests[1]);

  MPI_Finalize();
  return in[1] == 7 && index == MPI_UNDEFINED && done ? 0 : 1;
}
