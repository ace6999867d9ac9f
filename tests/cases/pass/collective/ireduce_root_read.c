// The root reads the result after completion; elsewhere the result argument is not used.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static long mine[6], result[6];
  long sum = 0;
  mine[5] = rank + 1;
  MPI_Request request;
  MPI_Ireduce(mine, result, 6, MPI_LONG, MPI_SUM, 2, MPI_COMM_WORLD, &request);
  if (rank != 2) {
    result[5] = result[0];
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  sum = result[5];

  MPI_Finalize();
  return sum == (rank == 2 ? 6 : 0) ? 0 : 1;
}
