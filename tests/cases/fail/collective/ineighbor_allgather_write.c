// On a torus, the value that the four neighbours get is changed before completion.
//# np: 4
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  int dims[2] = {2, 2}, periods[2] = {1, 1};
  MPI_Comm torus;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &torus);
  static double mine[3], all[4][3];
  mine[2] = rank;
  MPI_Request request;
  MPI_Ineighbor_allgather(mine, 3, MPI_DOUBLE, all, 3, MPI_DOUBLE, torus, &request); //~ CS-BUF-01 operation
  mine[2] = -1; //~ CS-BUF-01 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  double sum = all[0][2] + all[1][2] + all[2][2] + all[3][2];
  MPI_Comm_free(&torus);

  printf("%s\n", sum == 6 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
