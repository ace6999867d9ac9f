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
  MPI_Request request, first;
  MPI_Irecv(in, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  first = request;
  MPI_Isend(out, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Wait(&first, MPI_STATUS_IGNORE);
  printf("%d\n", in[0]);
  MPI_Finalize();
  return 0;
}
