// printf prints the name after it was received.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static char in[32], out[32];
  snprintf(out, sizeof(out), "rank-%d", rank);
  MPI_Request request;
  MPI_Irecv(in, 32, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &request);
  MPI_Send(out, 32, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("from %s\n", in);

  MPI_Finalize();
  return in[5] == '0' + peer ? 0 : 1;
}
