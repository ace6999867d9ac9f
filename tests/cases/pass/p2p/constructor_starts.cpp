// A function starts a receive by a constructor, whose two names are one function, after it has
// gathered from its buffer.
#include <cstdio>
#include <mpi.h>
#include <vector>

struct Receive {
  MPI_Request request;
  Receive(std::vector<double> &into, int from);
  ~Receive();
};

[[gnu::noinline]] static double gathered_while_received(std::vector<double> &field, const std::vector<int> &index,
                                                         int peer) {
  double sum = 0;
  for (int i : index) sum += field[i];
  Receive receive(field, peer);
  std::vector<double> own(field.size(), 1);
  MPI_Send(own.data(), static_cast<int>(own.size()), MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  return sum;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  std::vector<double> field(1000, 1);
  std::vector<int> index(1000);
  for (int i = 0; i < 1000; i++) index[i] = i * 7 % 1000;
  double sum = gathered_while_received(field, index, peer);
  std::printf("%g\n", sum);
  MPI_Finalize();
}

[[gnu::noinline]] Receive::Receive(std::vector<double> &into, int from) {
  MPI_Irecv(into.data(), static_cast<int>(into.size()), MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &request);
}

[[gnu::noinline]] Receive::~Receive() { MPI_Wait(&request, MPI_STATUS_IGNORE); }
