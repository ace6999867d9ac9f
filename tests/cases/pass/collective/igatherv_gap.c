// The root uses the gap that its displacements leave between the gathered blocks.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int all[20], mine[5];
  int counts[2] = {5, 3}, displacements[2] = {0, 10}, used = 0;
  for (int i = 0; i < 5; i++) {
    mine[i] = 10 * rank + i;
  }
  MPI_Request request;
  MPI_Igatherv(mine, counts[rank], MPI_INT, all, counts, displacements, MPI_INT, 0, MPI_COMM_WORLD, &request);
  if (rank == 0) {
    all[5] = 1;
    all[13] = 1;
    used = all[5] + all[9] + all[13];
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return rank != 0 || (all[12] == 12 && used == 2) ? 0 : 1;
}
