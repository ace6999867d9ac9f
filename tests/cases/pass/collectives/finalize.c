// The rank that is done says so, and all end together.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, done = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 2) done = 1;
  MPI_Allreduce(MPI_IN_PLACE, &done, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
  if (!done) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
