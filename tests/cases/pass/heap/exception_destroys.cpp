// The vector belongs to the function that handles the exception and completes the send.
#include <mpi.h>
#include <stdexcept>
#include <vector>

__attribute__((noinline)) static void fail(int value) {
  if (value == 7) {
    throw std::domain_error("seven");
  }
}

__attribute__((noinline)) static void post(int peer, MPI_Request *request, std::vector<int> &out) {
  MPI_Isend(out.data(), 90, MPI_INT, peer, 0, MPI_COMM_WORLD, request);
  fail(out[0]);
  MPI_Wait(request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  std::vector<int> in(90);
  std::vector<int> out(90, 7);
  MPI_Request request;
  try {
    post(peer, &request, out);
  } catch (const std::domain_error &) {
    in[0] = 1;
  }
  MPI_Recv(in.data(), 90, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return in[89] == 7 ? 0 : 1;
}
