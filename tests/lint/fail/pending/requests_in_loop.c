// One request for all sends of a loop; the last send alone is completed.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int out[8][4];
  MPI_Request request;
  for (int i = 0; i < 8; i++) {
    MPI_Isend(out[i], 4, MPI_INT, peer, i, MPI_COMM_WORLD, &request); //~ CS-REQ-02 operation //~ CS-REQ-02 overwrite
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
