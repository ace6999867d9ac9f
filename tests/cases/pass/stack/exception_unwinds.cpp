// The exception is thrown after the send completed.
#include <mpi.h>
#include <stdexcept>

__attribute__((noinline)) static void check(int value) {
  if (value > 0) {
    throw std::runtime_error("out of range");
  }
}

__attribute__((noinline)) static void post(int peer, MPI_Request *request) {
  int out[16] = {7};
  MPI_Isend(out, 16, MPI_INT, peer, 0, MPI_COMM_WORLD, request);
  MPI_Wait(request, MPI_STATUS_IGNORE);
  check(out[0]);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int in[16];
  MPI_Request incoming;
  MPI_Irecv(in, 16, MPI_INT, peer, 0, MPI_COMM_WORLD, &incoming);
  int caught = 0;
  MPI_Request request;
  try {
    post(peer, &request);
  } catch (const std::runtime_error &) {
    caught = 1;
  }
  MPI_Wait(&incoming, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return caught && in[0] == 7 ? 0 : 1;
}
