// The prefix sum is used as an offset before it was computed.
//# np: 3
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int length[1], end[1];
  int begin;
  length[0] = rank + 1;
  MPI_Request request;
  MPI_Iscan(length, end, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation
  begin = end[0] - length[0]; //~ CS-BUF-02 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  printf("%s\n", begin == rank * (rank + 1) / 2 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
