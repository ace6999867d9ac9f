/* A case without the collective. Corrected. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  switch (rank) {
  case 0: MPI_Barrier(MPI_COMM_WORLD); break;
  case 1: x = 2; MPI_Barrier(MPI_COMM_WORLD); break;
  default: MPI_Barrier(MPI_COMM_WORLD); break;
  }
  MPI_Finalize();
  return (int)(x - y) & 0;
}
