// Two receives from anybody get a message of rank 2 and the first one of rank 1; they may get both
// of rank 1's.
//# np: 3
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, values[3];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Status status;
    for (int i = 0; i < 2; i++) {
      MPI_Recv(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status); //~ CS-MSG-03 operation
    }
    MPI_Recv(&values[2], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &status); //~ CS-MSG-03 access
  } else {
    for (int i = 0; i < rank % 2 + 1; i++) {
      usleep(rank == 1 ? 200000 : 0);
      MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD); //~ CS-MSG-03 operation
    }
  }
  MPI_Finalize();
  return 0;
}
