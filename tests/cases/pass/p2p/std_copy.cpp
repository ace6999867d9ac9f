// std::copy takes data out of a receive buffer after the receive completed.
#include <algorithm>
#include <mpi.h>
#include <vector>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  std::vector<int> out(500, 7), in(500, 0), result(500, 0);
  MPI_Request request;
  MPI_Irecv(in.data(), 500, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  MPI_Send(out.data(), 500, MPI_INT, peer, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  std::copy(in.begin(), in.end(), result.begin());
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Finalize();
  return result[499] == 7 ? 0 : 1;
}
