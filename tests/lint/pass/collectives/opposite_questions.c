/* Two conditions on opposite answers to one question. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  if (rank == 0) MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  y = x;
  if (rank != 0) MPI_Bcast(&y, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return (int)(x - y) & 0;
}
