// The callback runs when the send is complete.
#include <functional>
#include <mpi.h>
#include <vector>

static void with_pending(MPI_Request &request, const std::function<void()> &meanwhile) {
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  meanwhile();
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  std::vector<int> out(64, 7), in(64);
  MPI_Request request, receive;
  MPI_Irecv(in.data(), 64, MPI_INT, peer, 0, MPI_COMM_WORLD, &receive);
  MPI_Isend(out.data(), 64, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  with_pending(request, [&out] {
    out[63] = 1;
  });
  MPI_Wait(&receive, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return in[63] == 7 ? 0 : 1;
}
