// std::fill overwrites part of a pending send buffer.
#include <algorithm>
#include <mpi.h>
#include <vector>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  std::vector<double> out(200, 1.5), in(100);
  MPI_Request request;
  MPI_Isend(out.data(), 100, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  std::fill(out.begin() + 90, out.end(), 0.0); //~ CS-BUF-01 access
  MPI_Recv(in.data(), 100, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
