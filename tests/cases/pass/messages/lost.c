// As many messages are received as sent.
//# np: 2
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int value = rank;
  for (int i = 0; rank == 0 && i < 3; i++) {
    MPI_Send(&value, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
  }
  for (int i = 0; rank == 1 && i < 3; i++) {
    MPI_Recv(&value, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
