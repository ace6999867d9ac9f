// A std::thread fills the next block into the vector that is being sent.
//# flags: -pthread
#include <mpi.h>
#include <thread>
#include <vector>

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<int> sending(100, 7), filling(100), in(100);
  MPI_Request request;
  MPI_Isend(sending.data(), 100, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  int *next = sending.data();
  std::thread producer([next] {
    for (int i = 0; i < 100; i++) {
      next[i] = i; //~ CS-BUF-01 access
    }
  });
  producer.join();
  MPI_Recv(in.data(), 100, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  sending.swap(filling);

  MPI_Finalize();
  return 0;
}
