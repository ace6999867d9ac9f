// The first block of a nonblocking all-to-all is refilled before completion.
#include <mpi.h>

enum { BLOCK = 3 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int out[2][2 * BLOCK], in[2 * BLOCK];
  MPI_Request request;
  out[0][0] = 10 * rank;
  MPI_Ialltoall(out[0], BLOCK, MPI_INT, in, BLOCK, MPI_INT, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  out[0][1] = 5; //~ CS-BUF-01 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
