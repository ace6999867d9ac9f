// A class of requests with shared buffers: the buffers live until its destructor has waited.
#include <memory>
#include <mpi.h>
#include <utility>
#include <vector>

class Exchange {
public:
  Exchange() = default;
  Exchange(Exchange &&) = default;
  ~Exchange() { wait(); }

  void send(std::shared_ptr<std::vector<int>> data, int to) {
    requests.emplace_back();
    MPI_Isend(data->data(), static_cast<int>(data->size()), MPI_INT, to, 0, MPI_COMM_WORLD, &requests.back());
    buffers.push_back(std::move(data));
  }

  std::shared_ptr<std::vector<int>> receive(int n, int from) {
    auto data = std::make_shared<std::vector<int>>(n);
    requests.emplace_back();
    MPI_Irecv(data->data(), n, MPI_INT, from, 0, MPI_COMM_WORLD, &requests.back());
    buffers.push_back(data);
    return data;
  }

  void wait() {
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    requests.clear();
    buffers.clear();
  }

private:
  std::vector<MPI_Request> requests;
  std::vector<std::shared_ptr<std::vector<int>>> buffers;
};

static std::shared_ptr<std::vector<int>> exchange(int peer) {
  Exchange first;
  auto in = first.receive(40, peer);
  first.send(std::make_shared<std::vector<int>>(40, 7), peer);
  Exchange second = std::move(first);
  return in;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  auto in = exchange(peer);
  (*in)[0] += 1;

  MPI_Finalize();
  return (*in)[0] == 8 && (*in)[39] == 7 ? 0 : 1;
}
