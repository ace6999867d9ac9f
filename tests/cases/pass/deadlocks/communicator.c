// A message is sent on the communicator on which it is waited for.
//# np: 2
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int value = rank;
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  if (rank == 0) {
    MPI_Ssend(&value, 1, MPI_INT, 1, 5, copy);
  } else {
    MPI_Recv(&value, 1, MPI_INT, 0, 5, copy, MPI_STATUS_IGNORE);
  }
  MPI_Comm_free(&copy);
  MPI_Finalize();
  return 0;
}
