// The last element of the other rank's block is read before completion.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int all[10], mine[4] = {1, 2, 3, 4};
  int counts[2] = {2, 4}, displacements[2] = {0, 3}, seen;
  MPI_Request request;
  MPI_Iallgatherv(mine, counts[rank], MPI_INT, all, counts, displacements, MPI_INT, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation
  seen = all[6]; //~ CS-BUF-02 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  printf("%s\n", seen == 4 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
