// Every rank's share of the contribution is in use, not only its own.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static double mine[2 * 4], part[4];
  mine[7] = mine[3] = 1;
  MPI_Request request;
  MPI_Ireduce_scatter_block(mine, part, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  mine[7] = 0; //~ CS-BUF-01 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
