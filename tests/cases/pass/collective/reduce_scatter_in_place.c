// MPI_IN_PLACE makes one buffer both input and result, which is no overlap.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  static int block[64], blocks[64], counts[64];
  for (int i = 0; i < size; i++) {
    block[i] = blocks[i] = i + 1;
    counts[i] = 1;
  }
  MPI_Reduce_scatter_block(MPI_IN_PLACE, block, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce_scatter(MPI_IN_PLACE, blocks, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("%d\n", block[0] == size * (rank + 1) && blocks[0] == block[0]);

  block[0] = blocks[0] = 1;
  MPI_Request requests[2];
  MPI_Ireduce_scatter_block(MPI_IN_PLACE, block, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  MPI_Ireduce_scatter(MPI_IN_PLACE, blocks, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

  MPI_Finalize();
  return 0;
}
