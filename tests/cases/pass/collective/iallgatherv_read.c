// Only what lies outside all blocks is used before completion.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int all[10], mine[4] = {1, 2, 3, 4};
  int counts[2] = {2, 4}, displacements[2] = {0, 3}, seen;
  MPI_Request request;
  MPI_Iallgatherv(mine, counts[rank], MPI_INT, all, counts, displacements, MPI_INT, MPI_COMM_WORLD, &request);
  seen = all[2] + all[7];
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  seen += all[6];

  MPI_Finalize();
  return seen == 4 ? 0 : 1;
}
