// memset clears an array of which a part is being received.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  size_t n = 1000 + 0 * argc;
  int *in = malloc(n * sizeof(int)), out[10] = {7};
  MPI_Request request;
  MPI_Irecv(in + 500, 10, MPI_INT, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-03 operation
  memset(in, 0, n * sizeof(int)); //~ CS-BUF-03 access
  MPI_Send(out, 10, MPI_INT, peer, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int first = in[500];
  free(in);

  printf("%s\n", first == 7 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
