// An array that is set to 0 at first is shorter than the message that it is to receive, also where
// a compiler knows its value.
#include <mpi.h>

int main(int argc, char **argv) {
  int rank, buffer[1000] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Send(buffer, 1000, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(buffer, 2000, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-BUF-07 operation ranks=1
  }
  MPI_Finalize();
  return 0;
}
