// A send buffer grows by realloc, and moves, while a send from it is pending.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int in[50];
  int *out = calloc(50, sizeof(int));
  out[49] = 7;
  MPI_Request request;
  MPI_Isend(out, 50, MPI_INT, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-05 operation
  out = realloc(out, 4000000); //~ CS-BUF-05 release
  MPI_Recv(in, 50, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int last = out[49];
  free(out);

  printf("%s\n", in[49] == 7 && last == 7 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
