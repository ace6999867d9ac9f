/* What is passed is the same on all ranks. */
#include <mpi.h>

static void step(int many) {
  if (many == 2) MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  step(size);
  MPI_Finalize();
  return (int)(x - y) & 0;
}
