// A class that waits in its destructor, if not before.
#include <mpi.h>
#include <cstdio>
#include <stdexcept>
#include <vector>

class Channel {
public:
  explicit Channel(int peer) : peer(peer) {}
  ~Channel() { wait(); }
  void send(const std::vector<double> &values) {
    MPI_Isend(values.data(), 8, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &request);
  }
  void wait() { MPI_Wait(&request, MPI_STATUS_IGNORE); }

private:
  int peer;
  MPI_Request request = MPI_REQUEST_NULL;
};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  {
    std::vector<double> values(8);
    Channel channel(1 - rank);
    try {
      channel.send(values);
      if (argc > 3) throw std::runtime_error("too many");
      channel.wait();
      values[2] = 1;
    } catch (const std::exception &error) {
      std::puts(error.what());
    }
  }
  MPI_Finalize();
  return 0;
}
