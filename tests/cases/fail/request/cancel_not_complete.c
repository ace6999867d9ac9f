// MPI_Cancel only asks: the buffer is reused before MPI_Wait or MPI_Test completed the receive.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int buffer[6];
  MPI_Request request;
  MPI_Irecv(buffer, 6, MPI_INT, peer, 77, MPI_COMM_WORLD, &request); //~ CS-BUF-03 operation
  MPI_Cancel(&request);
  buffer[1] = 5; //~ CS-BUF-03 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
