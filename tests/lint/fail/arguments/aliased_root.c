// What the root alone reads or writes, where all ranks make the call.
#include <mpi.h>

static double sums[4];
static int all[16];

static void reduce(double *values) {
  MPI_Reduce(values, values, 4, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); //~ CS-BUF-04 access
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  reduce(sums);
  MPI_Gather(all, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-BUF-04 access
  MPI_Finalize();
  return 0;
}
