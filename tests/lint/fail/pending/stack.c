// A function returns while its local variable is being sent.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void post(int step, int peer, MPI_Request *request) {
  int out[4] = {step};
  MPI_Isend(out, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, request); //~ CS-BUF-06 operation
} //~ CS-BUF-06 return

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  MPI_Request request;
  post(1, peer, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
