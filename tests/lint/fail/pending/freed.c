// Memory is freed while it is being received into.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int *in = malloc(4 * sizeof *in);
  MPI_Request request;
  MPI_Irecv(in, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-05 operation
  free(in); //~ CS-BUF-05 release
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
