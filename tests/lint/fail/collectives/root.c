/* Each rank names itself as the root. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  MPI_Bcast(&x, 1, MPI_DOUBLE, rank, MPI_COMM_WORLD); //~ CS-COL-02 access
  MPI_Finalize();
  return (int)(x - y) & 0;
}
