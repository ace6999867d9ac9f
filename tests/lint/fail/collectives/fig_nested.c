/* The thesis, figure 3.13: a condition in each of two functions. */
#include <mpi.h>

static void c(int rank, double *x, double *y) {
  if (rank == 1) //~ CS-COL-01 cause possible
    MPI_Reduce(x, y, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); //~ CS-COL-01 access possible //~ CS-COL-01 access possible
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  if (rank % 2) //~ CS-COL-01 cause possible
    c(rank, &x, &y);
  MPI_Finalize();
  return (int)(x - y) & 0;
}
