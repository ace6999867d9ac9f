// What the root alone reads or writes, where only others make the call.
#include <mpi.h>

static double sums[4];
static int all[16];

static void reduce(double *values, int root) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == root)
    MPI_Reduce(MPI_IN_PLACE, values, 4, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
  else
    MPI_Reduce(values, values, 4, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  reduce(sums, 0);
  MPI_Gather(rank == 0 ? MPI_IN_PLACE : all, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
