// Nobody completes a request before the end.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int out[4] = {0};
  MPI_Request request;
  MPI_Isend(out, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  printf("%d\n", out[0]);
  if (argc > 1)
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  else
    MPI_Request_free(&request);
  MPI_Finalize();
  return 0;
}
