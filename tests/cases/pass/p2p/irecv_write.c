// The receive buffer is written before the receive and after its completion.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static long out[4] = {1, 2, 3, 4}, in[4];
  in[2] = 0;
  MPI_Request request;
  MPI_Irecv(in, 4, MPI_LONG, peer, 0, MPI_COMM_WORLD, &request);
  MPI_Send(out, 4, MPI_LONG, peer, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  in[3] = in[2] + in[1];

  MPI_Finalize();
  return in[3] == 5 ? 0 : 1;
}
