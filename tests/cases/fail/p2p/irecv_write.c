// The receive buffer is written while the message may arrive in it.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static long out[4] = {1, 2, 3, 4}, in[4];
  in[2] = 0;
  MPI_Request request;
  MPI_Irecv(in, 4, MPI_LONG, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-03 operation
  in[2] = 0; //~ CS-BUF-03 access
  MPI_Send(out, 4, MPI_LONG, peer, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
