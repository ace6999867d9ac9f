// The root reads the result of a nonblocking reduction before completion.
//# np: 3
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static long mine[6], result[6];
  long sum = 0;
  mine[5] = rank + 1;
  MPI_Request request;
  MPI_Ireduce(mine, result, 6, MPI_LONG, MPI_SUM, 2, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation ranks=2
  if (rank == 2) {
    sum = result[5]; //~ CS-BUF-02 access ranks=2
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  printf("%s\n", sum == (rank == 2 ? 6 : 0) ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
