// Whether the send is waited for depends on something else than whether it was started.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int out[4] = {0}, n = argc, verbose = argc > 2 && argv[2][0] == 'v';
  MPI_Request request;
  if (n > 1) {
    MPI_Isend(out, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  }
  if (verbose) printf("%d\n", n);
  if (n > 1) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  out[0] = 1;
  MPI_Finalize();
  return 0;
}
