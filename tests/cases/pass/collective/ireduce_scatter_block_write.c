// The contribution is rewritten after completion.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static double mine[2 * 4], part[4];
  mine[7] = mine[3] = 1;
  MPI_Request request;
  MPI_Ireduce_scatter_block(mine, part, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  mine[7] = 0;

  MPI_Finalize();
  return part[3] == 2 && mine[7] == 0 ? 0 : 1;
}
