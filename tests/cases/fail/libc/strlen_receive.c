// strlen looks for the end of a text that is still being received.
#include <mpi.h>
#include <stdio.h>
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
  MPI_Irecv(in, 16, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation
  MPI_Send(out, 16, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
  size_t length = strlen(in); //~ CS-BUF-02 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free(in);
  free(out);

  printf("%s\n", length == 9 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
