// The send is completed before the function returns.
#include <mpi.h>

__attribute__((noinline)) static void post(int peer, MPI_Request *request) {
  int out[64];
  for (int i = 0; i < 64; i++) {
    out[i] = i;
  }
  MPI_Isend(out, 64, MPI_INT, peer, 0, MPI_COMM_WORLD, request);
  MPI_Wait(request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int in[64];
  MPI_Request incoming;
  MPI_Irecv(in, 64, MPI_INT, peer, 0, MPI_COMM_WORLD, &incoming);
  MPI_Request request;
  post(peer, &request);
  MPI_Wait(&incoming, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return in[63] == 63 ? 0 : 1;
}
