/* Two communicators in different orders: each barrier waits for the other. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  if (rank == 0) { //~ CS-COL-01 cause
    MPI_Barrier(MPI_COMM_WORLD); //~ CS-COL-01 access
    MPI_Barrier(other);
  } else {
    MPI_Barrier(other); //~ CS-COL-01 operation
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Comm_free(&other);
  MPI_Finalize();
  return (int)(x - y) & 0;
}
