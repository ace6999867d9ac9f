// With MPI_IN_PLACE the one buffer is read after completion.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  int *counts = calloc(32, sizeof(int)), mine;
  counts[31] = rank + 1;
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, counts, 32, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  mine = counts[31];
  free(counts);

  MPI_Finalize();
  return mine == 3 ? 0 : 1;
}
