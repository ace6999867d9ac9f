// strlen looks for the end of the text after it was received.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  char *in = calloc(16, 1), *out = calloc(16, 1);
  memset(out, 'a', 9);
  MPI_Request request;
  MPI_Irecv(in, 16, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &request);
  MPI_Send(out, 16, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  size_t length = strlen(in);
  free(in);
  free(out);

  MPI_Finalize();
  return length == 9 ? 0 : 1;
}
