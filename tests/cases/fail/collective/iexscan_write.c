// The input of an exclusive prefix sum is incremented before completion.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int value[2], before[2];
  value[1] = 4;
  MPI_Request request;
  MPI_Iexscan(value, before, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  value[1]++; //~ CS-BUF-01 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
