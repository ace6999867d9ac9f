/* A communicator of one rank needs nobody else; a function and what it does are the same. */
#include <mpi.h>

static void sync(MPI_Comm comm) { MPI_Barrier(comm); }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  if (rank == 0) sync(MPI_COMM_SELF);
  if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);
  else sync(MPI_COMM_WORLD);
  MPI_Finalize();
  return (int)(x - y) & 0;
}
