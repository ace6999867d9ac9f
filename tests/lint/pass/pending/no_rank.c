// Where there is no neighbour, nothing is received, and the boundary is set by hand.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int in[2] = {0};
  int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  MPI_Request request;
  MPI_Irecv(in, 2, MPI_INT, left, 0, MPI_COMM_WORLD, &request);
  if (left == MPI_PROC_NULL) in[0] = 7;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("%d\n", in[0]);
  MPI_Finalize();
  return 0;
}
