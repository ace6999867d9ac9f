/* Buffers that a nonblocking collective uses on some ranks only, and that all of them use before it
 * is complete. */
#include <mpi.h>
#include <stdio.h>

static int data[8], sums[8];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Request request;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Ibcast(data, 8, MPI_INT, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation
  int first = data[0]; //~ CS-BUF-02 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Ireduce(data, sums, 8, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-03 operation
  sums[0] = first; //~ CS-BUF-03 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Iscatter(sums, 1, MPI_INT, data, 1, MPI_INT, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  sums[0] = 1; //~ CS-BUF-01 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("%d %d\n", first, sums[0]);
  MPI_Finalize();
}
