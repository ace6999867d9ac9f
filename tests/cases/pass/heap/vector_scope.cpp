// The vector is moved out of the function: its elements stay where they are.
#include <mpi.h>
#include <utility>
#include <vector>

__attribute__((noinline)) static std::vector<int> post(int peer, MPI_Request *request) {
  std::vector<int> out(100, 7);
  MPI_Isend(out.data(), 100, MPI_INT, peer, 0, MPI_COMM_WORLD, request);
  return out;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  std::vector<int> in(100);
  MPI_Request request;
  std::vector<int> out = post(peer, &request);
  std::vector<int> kept = std::move(out);
  MPI_Recv(in.data(), 100, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return in[99] == 7 && kept[0] == 7 ? 0 : 1;
}
