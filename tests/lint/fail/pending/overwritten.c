// The request of a receive is overwritten by that of a send.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int in[4], out[4] = {0};
  MPI_Request request;
  MPI_Irecv(in, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &request); //~ CS-REQ-02 operation
  MPI_Isend(out, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &request); //~ CS-REQ-02 overwrite
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
