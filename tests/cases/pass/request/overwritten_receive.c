// The receive's request was copied before its variable was used again.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int out[4] = {7}, in[4];
  MPI_Request request;
  MPI_Request receive;
  MPI_Irecv(in, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  receive = request;
  MPI_Isend(out, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Finalize();
  return in[0] == 7 ? 0 : 1;
}
