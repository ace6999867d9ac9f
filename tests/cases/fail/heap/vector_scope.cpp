// The vector that is being sent is destroyed at the end of the function.
#include <mpi.h>
#include <utility>
#include <vector>

__attribute__((noinline)) static void post(int peer, MPI_Request *request) { //~ CS-BUF-05 release func=post
  std::vector<int> out(100, 7);
  MPI_Isend(out.data(), 100, MPI_INT, peer, 0, MPI_COMM_WORLD, request); //~ CS-BUF-05 operation
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  std::vector<int> in(100);
  MPI_Request request;
  post(peer, &request);
  MPI_Recv(in.data(), 100, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
