// A unique_ptr gets the next buffer, and deletes the one that is being sent.
#include <memory>
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int in[25];
  std::unique_ptr<int[]> out(new int[25]());
  MPI_Request request;
  MPI_Isend(out.get(), 25, MPI_INT, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-05 operation
  out.reset(new int[25]()); //~ CS-BUF-05 release
  MPI_Recv(in, 25, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
