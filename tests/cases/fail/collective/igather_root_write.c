// The root clears the gather's result while contributions may arrive in it.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static float all[2][4], mine[4] = {1, 2, 3, 4};
  MPI_Request request;
  MPI_Igather(mine, 4, MPI_FLOAT, all, 4, MPI_FLOAT, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-03 operation ranks=0
  if (rank == 0) {
    all[1][3] = 0; //~ CS-BUF-03 access ranks=0
  }
  float sum = mine[0] + mine[1];
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  printf("%s\n", rank != 0 || all[1][3] == sum + 1 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
