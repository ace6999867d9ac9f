// The barriers of two communicators come in one order.
//# np: 4
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm reversed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  if (rank == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(reversed);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(reversed);
  }
  MPI_Comm_free(&reversed);
  MPI_Finalize();
  return 0;
}
