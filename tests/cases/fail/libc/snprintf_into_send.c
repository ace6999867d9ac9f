// snprintf formats the next line into the buffer of a pending send.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static char line[2][80], in[80];
  snprintf(line[0], sizeof(line[0]), "step %d", 0);
  MPI_Request request;
  MPI_Isend(line[0], 80, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  snprintf(line[0], sizeof(line[0]), "step %d", rank); //~ CS-BUF-01 access
  MPI_Recv(in, 80, MPI_CHAR, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
