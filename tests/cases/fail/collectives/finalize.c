// One rank ends early, and the others wait for it.
//# np: 3
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, done = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 2) done = 1;
  if (!done) MPI_Barrier(MPI_COMM_WORLD); //~ CS-COL-06 operation
  MPI_Finalize(); //~ CS-COL-06 access
  return 0;
}
