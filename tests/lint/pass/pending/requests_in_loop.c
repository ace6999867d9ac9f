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
  int n = argc < 8 ? argc : 8;
  MPI_Request requests[8];
  for (int i = 0; i < n; i++) {
    out[i][0] = i;
    MPI_Isend(out[i], 4, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[i]);
  }
  for (int i = 0; i < n; i++) {
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  }
  out[0][0] = 1;
  MPI_Finalize();
  return 0;
}
