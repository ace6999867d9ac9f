/* Amounts that are the same, or that need not be: at the root alone, in place, for each rank, in
 * other pieces. */
#include <mpi.h>
#include <stdio.h>

static int data[64], sums[64];
static int counts[64], places[64];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, more = 8;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < size; i++)
    counts[i] = i + 1, places[i] = 0;
  MPI_Gatherv(data, rank + 1, MPI_INT, sums, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
  // Nothing is left over where the program is meant to run.
  if (rank < 8 % size)
    more++;
  MPI_Allreduce(data, sums, more, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Bcast(data, rank ? 2 : 1, rank ? MPI_INT : pair, 0, MPI_COMM_WORLD);
  MPI_Type_free(&pair);
  MPI_Gather(data, 1, MPI_INT, sums, rank ? 0 : 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0)
    MPI_Gather(MPI_IN_PLACE, 0, MPI_INT, sums, 1, MPI_INT, 0, MPI_COMM_WORLD);
  else
    MPI_Gather(data, 1, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0)
    MPI_Bcast(data, 4, MPI_INT, 0, MPI_COMM_WORLD);
  else
    MPI_Bcast(sums, 2, MPI_2INT, 0, MPI_COMM_WORLD);
  printf("%d\n", sums[0]);
  MPI_Finalize();
}
