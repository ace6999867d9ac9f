// The shared owner of the buffer is kept until the send completed.
#include <memory>
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int in[25];
  std::shared_ptr<int[]> out(new int[25]());
  auto keep = out;
  MPI_Request request;
  MPI_Isend(out.get(), 25, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  out.reset(new int[25]());
  MPI_Recv(in, 25, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return in[24] == 0 ? 0 : 1;
}
