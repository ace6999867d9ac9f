// The request of an active nonblocking collective is freed (MPI 4.1 §6.12 forbids it).
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int mine[2], sum[2];
  mine[0] = 1;
  MPI_Request request;
  MPI_Iallreduce(mine, sum, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request); //~ CS-REQ-03 operation
  MPI_Request_free(&request); //~ CS-REQ-03 access
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Finalize();
  return 0;
}
