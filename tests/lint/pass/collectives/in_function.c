/* The condition is in the caller, the collective two functions below. Corrected. */
#include <mpi.h>

static void inner(double *x, double *y) {
  MPI_Reduce(x, y, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void outer(double *x, double *y) { inner(x, y); }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  outer(&x, &y);
  MPI_Finalize();
  return (int)(x - y) & 0;
}
