// std::copy takes data out of a pending receive buffer.
#include <algorithm>
#include <mpi.h>
#include <stdio.h>
#include <vector>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  std::vector<int> out(500, 7), in(500, 0), result(500, 0);
  MPI_Request request;
  MPI_Irecv(in.data(), 500, MPI_INT, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation
  MPI_Send(out.data(), 500, MPI_INT, peer, 0, MPI_COMM_WORLD);
  std::copy(in.begin(), in.end(), result.begin()); //~ CS-BUF-02 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);

  printf("%s\n", result[499] == 7 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
