// Rank 1's message may be the first that arrives; then the second receive waits for ever.
//# np: 3
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, first = 0, second = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Recv(&first, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-MSG-03 operation
    MPI_Recv(&second, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-MSG-03 access
  } else {
    if (rank == 1) {
      usleep(200000);
    }
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD); //~ CS-MSG-03 operation
  }
  MPI_Finalize();
  return rank == 0 && first + second != 3;
}
