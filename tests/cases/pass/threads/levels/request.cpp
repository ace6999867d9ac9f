// One thread waits for the request, then another one finds it null.
//# flags: -pthread
#include <mpi.h>
#include <thread>

static MPI_Request request;

static void complete() {
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  int provided, rank, in = 0, out = 7;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Irecv(&in, 1, MPI_INT, !rank, 0, MPI_COMM_WORLD, &request);
  MPI_Send(&out, 1, MPI_INT, !rank, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  std::thread one(complete);
  one.join();
  std::thread two(complete);
  two.join();
  MPI_Finalize();
  return in == 7 ? 0 : 1;
}
