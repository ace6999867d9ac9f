// A persistent request is started again while it is active, and its buffer is filled.
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
  MPI_Send_init(out, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  for (int step = 0; step < 3; step++) {
    out[0] = step; //~ CS-BUF-01 access
    MPI_Start(&request); //~ CS-BUF-01 operation //~ CS-REQ-04 operation //~ CS-REQ-04 access
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  MPI_Finalize();
  return 0;
}
