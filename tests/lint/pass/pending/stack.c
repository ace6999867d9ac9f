// A function returns while its caller's variable is being sent.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void post(int *out, int peer, MPI_Request *request) {
  MPI_Isend(out, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, request);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int out[4] = {1};
  MPI_Request request;
  post(out, peer, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  out[0] = 2;
  MPI_Finalize();
  return 0;
}
