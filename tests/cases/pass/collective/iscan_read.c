// The prefix sum is used as an offset after completion.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int length[1], end[1];
  int begin;
  length[0] = rank + 1;
  MPI_Request request;
  MPI_Iscan(length, end, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  begin = end[0] - length[0];

  MPI_Finalize();
  return begin == rank * (rank + 1) / 2 ? 0 : 1;
}
