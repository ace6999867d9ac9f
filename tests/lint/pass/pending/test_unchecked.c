// MPI_Test may say that the receive is not complete.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int in[4] = {0}, done = 0;
  MPI_Request request;
  MPI_Irecv(in, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  if (done) printf("%d\n", in[1]);
  while (!done) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
  printf("%d\n", in[2]);
  MPI_Finalize();
  return 0;
}
