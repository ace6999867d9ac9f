// MPI is finalized on every way to the end, or by a function for that.
//# np: 2
#include <mpi.h>
#include <stdlib.h>

static void end(void) { MPI_Finalize(); }

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  atexit(end);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) return 0;
  exit(0);
}
