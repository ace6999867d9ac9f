// Barriers of two communicators cross, and all ranks wait for ever.
//# np: 4
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
  if (rank == 0) {
    MPI_Barrier(half); //~ CS-COL-05 operation
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    MPI_Barrier(MPI_COMM_WORLD); //~ CS-COL-05 access
    MPI_Barrier(half);
  }
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
