// push_back reallocates the vector whose elements are being sent.
#include <mpi.h>
#include <vector>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  std::vector<int> out(64, 7), in(64);
  out.shrink_to_fit();
  MPI_Request request;
  MPI_Isend(out.data(), 64, MPI_INT, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-05 operation
  out.push_back(rank); //~ CS-BUF-05 release
  MPI_Recv(in.data(), 64, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
