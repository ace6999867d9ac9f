/* A case without the collective. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  switch (rank) { //~ CS-COL-01 cause possible
  case 0: MPI_Barrier(MPI_COMM_WORLD); break;
  case 1: x = 2; break;
  default: MPI_Barrier(MPI_COMM_WORLD); break; //~ CS-COL-01 access possible
  }
  MPI_Finalize();
  return (int)(x - y) & 0;
}
