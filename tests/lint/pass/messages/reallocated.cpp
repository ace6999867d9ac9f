// A vector grows while its elements are being sent, within the memory that it has reserved.
#include <mpi.h>

#include <vector>

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<int> found(2, rank), in(2);
  found.reserve(8);
  MPI_Request request;
  MPI_Isend(found.data(), 2, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &request);
  found.push_back(7);
  MPI_Recv(in.data(), 2, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
