// Two buffers by turns: each is filled again once its send is complete.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int out[2][8];
  MPI_Request requests[2];
  for (int step = 0; step < 6; step++) {
    int slot = step % 2;
    if (step >= 2) MPI_Wait(&requests[slot], MPI_STATUS_IGNORE);
    out[slot][0] = step;
    MPI_Isend(out[slot], 8, MPI_INT, peer, step, MPI_COMM_WORLD, &requests[slot]);
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Finalize();
  return 0;
}
