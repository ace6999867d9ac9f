/* Each rank goes round until its own error is small. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  do {
    x *= rank + 0.5;
    MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD); //~ CS-COL-01 access possible
  } while (x > 1e-3); //~ CS-COL-01 cause possible
  MPI_Finalize();
  return (int)(x - y) & 0;
}
