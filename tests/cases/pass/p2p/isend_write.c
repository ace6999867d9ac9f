// The send buffer is written again only after the send completed.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int out[64] = {7}, in[64];
  MPI_Request request;
  MPI_Isend(out, 64, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  MPI_Recv(in, 64, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  out[0] = 8;

  MPI_Finalize();
  return in[0] == 7 && out[0] == 8 ? 0 : 1;
}
