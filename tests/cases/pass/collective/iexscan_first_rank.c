// In an exclusive prefix sum the first rank's result is undefined, but the buffer still is an
// argument of the pending operation: nobody touches it before completion.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int value[1], before[1];
  value[0] = 3;
  MPI_Request request;
  MPI_Iexscan(value, before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  int mine = value[0];
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 0) {
    before[0] = 0;
  }

  MPI_Finalize();
  return before[0] == (rank == 0 ? 0 : mine) ? 0 : 1;
}
