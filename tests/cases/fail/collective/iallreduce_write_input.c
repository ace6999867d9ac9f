// The contribution to a nonblocking reduction is updated before completion.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static double partial[3], total[3], before;
  MPI_Request request;
  partial[1] = 2;
  MPI_Iallreduce(partial, total, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  before = partial[1];
  partial[2] = before; //~ CS-BUF-01 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  printf("%s\n", total[1] == 4 && total[2] == 0 && partial[2] == 2 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
