// After MPI_Cancel and MPI_Wait the buffer may be reused.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int buffer[6];
  MPI_Request request;
  MPI_Irecv(buffer, 6, MPI_INT, peer, 77, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  buffer[1] = 5;

  MPI_Finalize();
  return buffer[1] == 5 ? 0 : 1;
}
