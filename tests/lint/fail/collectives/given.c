/* Roots and reductions that follow from the rank. */
#include <mpi.h>
#include <stdio.h>

static int data[8], sums[8];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, root = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Bcast(data, 8, MPI_INT, rank, MPI_COMM_WORLD); //~ CS-COL-02 access
  MPI_Bcast(data, 8, MPI_INT, (rank + 1) % size, MPI_COMM_WORLD); //~ CS-COL-02 access possible
  if (rank == 1)
    root = 1;
  MPI_Reduce(data, sums, 8, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD); //~ CS-COL-02 access possible
  MPI_Op reduction = MPI_SUM;
  if (rank == 0)
    reduction = MPI_MAX;
  MPI_Allreduce(data, sums, 8, MPI_INT, reduction, MPI_COMM_WORLD); //~ CS-COL-03 access possible
  printf("%d\n", sums[0]);
  MPI_Finalize();
}
