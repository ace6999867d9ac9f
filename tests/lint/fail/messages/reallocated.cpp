// A vector grows while its elements are being sent: it moves to other memory, and releases what MPI
// still reads.
#include <mpi.h>

#include <vector>

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<int> found(2, rank), in(2);
  MPI_Request request;
  MPI_Isend(found.data(), 2, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-05 operation
  found.push_back(7); //~ CS-BUF-05 release
  MPI_Recv(in.data(), 2, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
