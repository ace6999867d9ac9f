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
  MPI_Request request;
  MPI_Irecv(in, 8, MPI_INT, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation //~ CS-BUF-03 operation
  printf("%d\n", in[0]); //~ CS-BUF-02 access
  in[7] = 1; //~ CS-BUF-03 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free(in);
  MPI_Finalize();
  return 0;
}
