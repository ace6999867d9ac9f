// The class that waits in its destructor is declared after the vector, hence destroyed first.
#include <mpi.h>
#include <vector>

class Waiter {
public:
  ~Waiter() { MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE); }
  MPI_Request *add() {
    requests.push_back(MPI_REQUEST_NULL);
    return &requests.back();
  }

private:
  std::vector<MPI_Request> requests;
};

__attribute__((noinline)) static void send(int peer) {
  std::vector<double> out(30, 1.5);
  Waiter waiter;
  MPI_Isend(out.data(), 30, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, waiter.add());
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  std::vector<double> in(30);
  MPI_Request incoming;
  MPI_Irecv(in.data(), 30, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &incoming);
  send(peer);
  MPI_Wait(&incoming, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return in[29] == 1.5 ? 0 : 1;
}
