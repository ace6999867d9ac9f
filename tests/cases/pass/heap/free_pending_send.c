// The send buffer is freed after completion; memory next to it was freed before.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int in[100];
  int *before = malloc(400), *out = calloc(100, sizeof(int)), *after = malloc(400);
  MPI_Request request;
  MPI_Isend(out, 100, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  free(before);
  free(after);
  MPI_Recv(in, 100, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free(out);

  MPI_Finalize();
  return in[99] == 0 ? 0 : 1;
}
