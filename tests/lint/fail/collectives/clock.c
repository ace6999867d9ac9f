/* Each rank stops when its own clock says so. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  const double start = MPI_Wtime();
  while (MPI_Wtime() - start < 0.1) //~ CS-COL-01 cause possible
    MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); //~ CS-COL-01 access possible
  MPI_Finalize();
  return (int)(x - y) & 0;
}
