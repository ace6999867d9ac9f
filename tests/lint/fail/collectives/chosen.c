/* One call on a communicator that the rank chooses: each rank waits for all of the one that it
 * names. */
#include <mpi.h>
#include <stdio.h>

static int data[8], sums[8];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm copy, again, first = MPI_COMM_NULL;
  MPI_Group all, one;
  const int zero = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm chosen = copy;
  if (rank == 0)
    chosen = MPI_COMM_WORLD;
  MPI_Allreduce(data, sums, 8, MPI_INT, MPI_SUM, chosen); //~ CS-COL-01 access
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &again);
  if (rank % 2)
    again = MPI_COMM_WORLD;
  MPI_Bcast(data, 8, MPI_INT, 0, again); //~ CS-COL-01 access possible
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &zero, &one);
  MPI_Comm_create(MPI_COMM_WORLD, one, &first);
  MPI_Comm some = rank == 0 ? first : copy;
  MPI_Barrier(some); //~ CS-COL-01 access
  printf("%d\n", sums[0]);
  MPI_Group_free(&all);
  MPI_Group_free(&one);
  MPI_Finalize();
}
