// Errors are returned, and nobody asks about them: a pending receive is too short for another
// rank's message.
//# np: 2
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, error = 0;
  char in[256] = {0}, out[256] = {0};
  MPI_Request receive;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Irecv(in, 100, MPI_BYTE, 1 - rank, 3, MPI_COMM_WORLD, &receive);
  MPI_Send(out, 200, MPI_BYTE, 1 - rank, 3, MPI_COMM_WORLD);
  error = MPI_Wait(&receive, MPI_STATUS_IGNORE); //~ CS-ERR-03 operation ranks=0,1
  printf("rank %d: %d\n", rank, error != MPI_SUCCESS);
  MPI_Finalize();
  return 0;
}
