/* Only rank 0 comes to the barrier. Corrected. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  if (rank == 0) x = 2;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return (int)(x - y) & 0;
}
