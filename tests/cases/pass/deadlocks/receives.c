// One of two ranks sends before it receives.
//# np: 2
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int value = rank, other = 1 - rank;
  if (rank == 0) {
    MPI_Send(&value, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
  }
  MPI_Recv(&value, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1) {
    MPI_Send(&value, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
