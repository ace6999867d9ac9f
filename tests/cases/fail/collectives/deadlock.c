// Barriers of two communicators cross, and all ranks wait for ever.
//# np: 4
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm reversed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  if (rank == 0) {
    MPI_Barrier(reversed); //~ CS-COL-05 operation
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    MPI_Barrier(MPI_COMM_WORLD); //~ CS-COL-05 access
    MPI_Barrier(reversed);
  }
  MPI_Comm_free(&reversed);
  MPI_Finalize();
  return 0;
}
