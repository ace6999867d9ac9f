// Received keys are sorted when they have arrived.
//# hooks: none
//# options: --guards
#include <algorithm>
#include <cstdio>
#include <mpi.h>
#include <numeric>
#include <vector>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<int> keys(100000), others(keys.size());
  std::iota(keys.begin(), keys.end(), rank);
  std::reverse(keys.begin(), keys.end());
  const int size = static_cast<int>(keys.size());
  MPI_Request requests[2];
  MPI_Irecv(others.data(), size, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(keys.data(), size, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  std::sort(others.begin(), others.end());
  MPI_Finalize();
  return others.front() < 0;
}
