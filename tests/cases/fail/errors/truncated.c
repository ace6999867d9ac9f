// More is sent than there is room for, over which MPI ends the program.
//# np: 2
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, line[8] = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Send(line, 8, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(line, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-ERR-01 operation ranks=1
  }
  MPI_Finalize();
  return 0;
}
