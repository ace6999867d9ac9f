// memcpy packs the next message into a second buffer.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int n = 300;
  char *out = calloc(2, n), *in = malloc(n), *next = malloc(n);
  memset(next, rank, n);
  MPI_Request request;
  MPI_Isend(out, n, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &request);
  memcpy(out + n, next, n);
  MPI_Recv(in, n, MPI_CHAR, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int last = in[n - 1];
  free(out);
  free(in);
  free(next);

  MPI_Finalize();
  return last == 0 ? 0 : 1;
}
