// Everybody sends each other a size, then that many values. Sizes are taken from whoever comes
// first: with any tag, the values of a rank that is ahead may be first.
//# np: 3
#include <mpi.h>
#include <unistd.h>

#include <map>
#include <vector>

enum { SIZE_TAG = 1234, DATA_TAG = 5678 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<int> out(5 + rank, rank);
  int length = 5 + rank;
  std::vector<MPI_Request> requests;
  for (int p = 0; p < size; p++) {
    if (p == rank) continue;
    requests.emplace_back();
    MPI_Isend(&length, 1, MPI_INT, p, SIZE_TAG, MPI_COMM_WORLD, &requests.back());
  }
  std::map<int, int> expected;
  for (int k = 0; k < size - 1; k++) {
    MPI_Status status;
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status); //~ CS-MSG-06 access
    int n;
    MPI_Recv(&n, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-MSG-06 operation
    expected[status.MPI_SOURCE] = n;
  }
  std::map<int, std::vector<int>> in;
  for (auto [p, n] : expected) {
    in[p].resize(n);
    requests.emplace_back();
    MPI_Irecv(in[p].data(), n, MPI_INT, p, DATA_TAG, MPI_COMM_WORLD, &requests.back()); //~ CS-MSG-06 operation
  }
  usleep(300000); // so that all sizes are there first, this time
  for (int p = 0; p < size; p++) {
    if (p == rank) continue;
    requests.emplace_back();
    MPI_Isend(out.data(), length, MPI_INT, p, DATA_TAG, MPI_COMM_WORLD, &requests.back()); //~ CS-MSG-06 operation
  }
  MPI_Waitall(requests.size(), requests.data(), MPI_STATUSES_IGNORE);
  bool wrong = false;
  for (auto &[p, values] : in) {
    wrong |= int(values.size()) != 5 + p;
    for (int value : values) wrong |= value != p;
  }
  MPI_Finalize();
  return wrong;
}
