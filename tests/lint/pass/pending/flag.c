// A variable says whether a send is pending; here it is forgotten to be looked at.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int out[4] = {0}, pending = 0;
  MPI_Request request = MPI_REQUEST_NULL, other = MPI_REQUEST_NULL;
  if (argc > 1) {
    MPI_Isend(out, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
    pending = 1;
  }
  if (pending) MPI_Wait(&request, MPI_STATUS_IGNORE);
  out[0] = 1;
  if (argc > 1) MPI_Isend(out, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &other);
  if (other != MPI_REQUEST_NULL) MPI_Wait(&other, MPI_STATUS_IGNORE);
  out[0] = 2;
  MPI_Finalize();
  return 0;
}
