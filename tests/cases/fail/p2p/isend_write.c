// The send buffer is written between MPI_Isend and its completion (MPI 4.1 §3.7.2).
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int out[64] = {7}, in[64];
  MPI_Request request;
  MPI_Isend(out, 64, MPI_INT, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  out[0] = 8; //~ CS-BUF-01 access
  MPI_Recv(in, 64, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
