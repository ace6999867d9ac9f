// The input of an exclusive prefix sum is incremented after completion.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int value[2], before[2];
  value[1] = 4;
  MPI_Request request;
  MPI_Iexscan(value, before, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  value[1]++;

  MPI_Finalize();
  return value[1] == 5 && (rank == 0 || before[1] == 4) ? 0 : 1;
}
