// With MPI_IN_PLACE the one buffer is input and output: it must not even be read.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  int *counts = calloc(32, sizeof(int)), mine;
  counts[31] = rank + 1;
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, counts, 32, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation
  mine = counts[31]; //~ CS-BUF-02 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free(counts);

  printf("%s\n", mine == 3 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
