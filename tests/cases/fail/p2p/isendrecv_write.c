// The send half of MPI_Isendrecv is pending until the one request completes.
//# mpi: mpich
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int out[16] = {7}, in[16];
  MPI_Request request;
  MPI_Isendrecv(out, 16, MPI_INT, peer, 0, in, 16, MPI_INT, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  out[1] = 1; //~ CS-BUF-01 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
