// A loop fills a vector anew that it sends, and drops the request.
//# hooks: none
//# options: --guards
//# flags: -fno-inline
#include <mpi.h>
#include <utility>
#include <vector>

// As Boost.MPI has it: a send that returns its request, whatever becomes of it.
class Request {
public:
  explicit Request(MPI_Request request) : request(request) {}
  void wait() { MPI_Wait(&request, MPI_STATUS_IGNORE); }

private:
  MPI_Request request;
};

class Communicator {
public:
  Request isend(int peer, int tag, const std::vector<int> &values) const {
    MPI_Request request;
    MPI_Isend(values.data(), static_cast<int>(values.size()), MPI_INT, peer, tag, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation //~ CS-REQ-02 operation //~ CS-REQ-02 overwrite //~ CS-REQ-01 operation
    return Request(request);
  }
};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const Communicator world;
  std::vector<int> mine(60000), theirs(mine.size());
  for (int tag = 0; tag < 2; tag++) {
    for (std::size_t i = 0; i < mine.size(); i++) mine[i] = tag + rank; //~ CS-BUF-01 access
    world.isend(1 - rank, tag, mine);
    MPI_Recv(theirs.data(), static_cast<int>(theirs.size()), MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
}
