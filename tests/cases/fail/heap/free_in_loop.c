// Each message gets a buffer of its own, freed as soon as the send is started.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int in[3][30];
  MPI_Request incoming[3];
  for (int i = 0; i < 3; i++)
    MPI_Irecv(in[i], 30, MPI_INT, peer, i, MPI_COMM_WORLD, &incoming[i]);
  for (int i = 0; i < 3; i++) {
    int *out = calloc(30, sizeof(int));
    out[0] = i;
    MPI_Request request;
    MPI_Isend(out, 30, MPI_INT, peer, i, MPI_COMM_WORLD, &request); //~ CS-BUF-05 operation
    free(out); //~ CS-BUF-05 release
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  int sum = 0;
  for (int i = 0; i < 3; i++) {
    MPI_Wait(&incoming[i], MPI_STATUS_IGNORE);
    sum += in[i][0];
  }

  printf("%s\n", sum == 3 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
