// An exception destroys the vector of a pending send.
#include <mpi.h>
#include <stdexcept>
#include <vector>

__attribute__((noinline)) static void fail(int value) {
  if (value == 7) {
    throw std::domain_error("seven");
  }
}

__attribute__((noinline)) static void post(int peer, MPI_Request *request) { //~ CS-BUF-05 release func=post
  std::vector<int> out(90, 7);
  MPI_Isend(out.data(), 90, MPI_INT, peer, 0, MPI_COMM_WORLD, request); //~ CS-BUF-05 operation
  fail(out[0]);
  MPI_Wait(request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  std::vector<int> in(90);
  MPI_Request request;
  try {
    post(peer, &request);
  } catch (const std::domain_error &) {
    in[0] = 1;
  }
  MPI_Recv(in.data(), 90, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
