// The reduced part is read before completion.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int mine[5] = {1, 1, 1, 1, 1}, part[5];
  int counts[2] = {2, 3}, seen;
  MPI_Request request;
  MPI_Ireduce_scatter(mine, part, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation
  seen = part[1]; //~ CS-BUF-02 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  printf("%s\n", seen == 3 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
