// The contribution lives in the caller.
#include <mpi.h>

__attribute__((noinline)) static void begin_sum(double *mine, double *sum, MPI_Request *request) {
  *mine *= *mine;
  MPI_Iallreduce(mine, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static double sum;
  MPI_Request request;
  double mine = 2;
  begin_sum(&mine, &sum, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return sum == 8 ? 0 : 1;
}
