// A receive is posted in advance, its message is matched, but nobody asks for it again.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static double early[3], out[3];
  MPI_Request request;
  MPI_Irecv(early, 3, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, &request); //~ CS-REQ-01 operation
  MPI_Send(out, 3, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Finalize();
  return 0;
}
