/* The communicator is passed; one of two calls is for some ranks only. */
#include <mpi.h>

static void sync(MPI_Comm comm) {
  MPI_Barrier(comm); //~ CS-COL-01 access
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  sync(MPI_COMM_WORLD);
  if (rank == 0) //~ CS-COL-01 cause
    sync(MPI_COMM_WORLD);
  MPI_Finalize();
  return (int)(x - y) & 0;
}
