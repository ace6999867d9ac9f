// A nonblocking barrier has no buffer: all memory may be used until it completes.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int work[100];
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int i = 1; i < 100; i++) {
    work[i] = work[i - 1] + 1;
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Finalize();
  return work[99] == 99 ? 0 : 1;
}
