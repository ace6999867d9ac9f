// In an exclusive prefix sum the first rank gets nothing: its buffer for the result is not
// significant (MPI 4.1 §6.11.2).
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int value[1], before[1];
  value[0] = 3;
  MPI_Request request;
  MPI_Iexscan(value, before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  if (rank == 0) before[0] = 0;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (before[0] != 3 * rank) return 1;

  // In place, it holds what the first rank gives.
  before[0] = rank + 1;
  MPI_Iexscan(MPI_IN_PLACE, before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return rank == 1 && before[0] != 1;
}
