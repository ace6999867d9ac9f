// A receive that turned out to be unnecessary is cancelled and completed.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static double early[3], out[3];
  MPI_Request request;
  MPI_Irecv(early, 3, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  early[0] = out[0];

  MPI_Finalize();
  return early[0] == 0 ? 0 : 1;
}
