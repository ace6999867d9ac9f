// The buffer of a send is written before it is complete.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int out[8] = {0};
  MPI_Request request;
  MPI_Isend(out, 8, MPI_INT, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  out[5] = 1; //~ CS-BUF-01 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
