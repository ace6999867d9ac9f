/* Counts and datatypes that the rank decides, of collectives to which all ranks pass the same
 * amount. */
#include <mpi.h>
#include <stdio.h>

static int data[64], sums[64];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, count = 8;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Bcast(data, rank + 1, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-COL-04 access
  if (rank == 0)
    count = 9;
  MPI_Allreduce(data, sums, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD); //~ CS-COL-04 access possible
  MPI_Datatype type = rank % 2 ? MPI_INT : MPI_FLOAT;
  MPI_Allgather(data, 2, type, sums, 2, type, MPI_COMM_WORLD); //~ CS-COL-04 access possible
  if (rank == 0)
    MPI_Reduce(data, sums, 4, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); //~ CS-COL-04 access
  else
    MPI_Reduce(data, sums, 5, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); //~ CS-COL-04 operation
  if (rank == 0)
    MPI_Bcast(data, 4, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-COL-04 access
  else
    MPI_Bcast(sums, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD); //~ CS-COL-04 operation
  printf("%d\n", sums[0]);
  MPI_Finalize();
}
