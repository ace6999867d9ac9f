// MPI_Waitall completes the first of two requests only.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int in[4] = {0}, out[4] = {0};
  MPI_Request requests[2];
  MPI_Isend(out, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  printf("%d\n", in[1]);
  MPI_Finalize();
  return 0;
}
