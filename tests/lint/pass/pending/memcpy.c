// memcpy and memset use buffers of operations.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include <string.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int out[4] = {0}, in[4], copy[4];
  MPI_Request requests[2];
  MPI_Irecv(in, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
  memcpy(copy, out, sizeof copy);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  memset(out, 0, sizeof out);
  printf("%d\n", copy[0] + in[0]);
  MPI_Finalize();
  return 0;
}
