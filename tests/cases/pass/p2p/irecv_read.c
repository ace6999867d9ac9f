// The receive buffer is read after MPI_Wait.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int out[64] = {7}, in[64] = {0};
  MPI_Request request;
  MPI_Irecv(in, 64, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  MPI_Send(out, 64, MPI_INT, peer, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int first = in[0];
  out[0] = first;

  MPI_Finalize();
  return out[0] == 7 ? 0 : 1;
}
