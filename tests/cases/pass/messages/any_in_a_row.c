// Whatever the first receive gets, the message that it leaves is received from anybody, too.
//# np: 3
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, values[3];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Status status;
    MPI_Recv(&values[0], 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
    MPI_Recv(&values[1], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &status);
    MPI_Recv(&values[2], 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
  } else {
    for (int i = 0; i < rank % 2 + 1; i++) {
      usleep(rank == 1 ? 200000 : 0);
      MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}
