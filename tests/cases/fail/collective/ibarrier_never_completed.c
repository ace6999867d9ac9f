// A nonblocking barrier is started and forgotten.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int work[100];
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request); //~ CS-REQ-01 operation
  for (int i = 1; i < 100; i++) {
    work[i] = work[i - 1] + 1;
  }
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Finalize();
  return 0;
}
