// The receive buffer is read before MPI_Wait: the message may not be there yet.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int out[64] = {7}, in[64] = {0};
  MPI_Request request;
  MPI_Irecv(in, 64, MPI_INT, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation
  MPI_Send(out, 64, MPI_INT, peer, 0, MPI_COMM_WORLD);
  int first = in[0]; //~ CS-BUF-02 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  out[0] = first;

  MPI_Finalize();
  return 0;
}
