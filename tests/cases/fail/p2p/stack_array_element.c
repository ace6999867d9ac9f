// An element in the middle of a local array is read while it is being received.
// clang before 21 does not instrument such accesses; its ThreadSanitizer takes the address of
// an element for one that never leaves the function.
//# cc: gcc
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int in[16] = {0}, out[4] = {1, 2, 3, 4}, seen;
  MPI_Request request;
  MPI_Irecv(in + 8, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation
  MPI_Send(out, 4, MPI_INT, peer, 0, MPI_COMM_WORLD);
  seen = in[9]; //~ CS-BUF-02 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  printf("%s\n", seen == 0 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
