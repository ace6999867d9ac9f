/* A loop goes round as often as the rank says. Corrected. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  for (int i = 0; i < size; i++) {
    if (i == rank) x += 1;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return (int)(x - y) & 0;
}
