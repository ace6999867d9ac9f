// The root reads a gathered block before completion.
#include <mpi.h>
#include <stdio.h>

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
  MPI_Igatherv(mine, counts[rank], MPI_INT, all, counts, displacements, MPI_INT, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation ranks=0
  if (rank == 0) {
    used = all[12]; //~ CS-BUF-02 access ranks=0
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  printf("%s\n", rank != 0 || (all[12] == 12 && used == 2) ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
