// The buffer of a receive is read and written before it is complete.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int *in = malloc(8 * sizeof *in);
  in[7] = 1;
  MPI_Request request;
  MPI_Irecv(in, 7, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  printf("%d\n", in[7]);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("%d\n", in[0]);
  free(in);
  MPI_Finalize();
  return 0;
}
