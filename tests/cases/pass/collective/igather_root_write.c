// The root clears the gather's result before the call; its own contribution is read only.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static float all[2][4], mine[4] = {1, 2, 3, 4};
  MPI_Request request;
  all[1][3] = 0;
  MPI_Igather(mine, 4, MPI_FLOAT, all, 4, MPI_FLOAT, 0, MPI_COMM_WORLD, &request);
  float sum = mine[0] + mine[1];
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return rank != 0 || all[1][3] == sum + 1 ? 0 : 1;
}
