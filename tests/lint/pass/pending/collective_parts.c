/* Buffers that a nonblocking collective writes on some ranks only, used before it is complete on
 * the others. */
#include <mpi.h>
#include <stdio.h>

static int data[8], sums[8];

static int on_all(int rank) {
  MPI_Request request;
  int first = 0;
  MPI_Ibcast(data, 8, MPI_INT, 0, MPI_COMM_WORLD, &request);
  if (rank == 0)
    first = data[0];
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Ireduce(data, sums, 8, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &request);
  if (rank != 0)
    sums[0] = first;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return first;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, first;
  MPI_Request request;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  first = on_all(rank);
  if (rank == 0) {
    MPI_Ibcast(data, 8, MPI_INT, 0, MPI_COMM_WORLD, &request);
    first += data[0];
  } else {
    MPI_Ibcast(data, 8, MPI_INT, 0, MPI_COMM_WORLD, &request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Iscatter(sums, 1, MPI_INT, data, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
  if (rank != 0)
    sums[0] = 1;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  sums[0] = 2;
  printf("%d %d\n", first + data[1], sums[0]);
  MPI_Finalize();
}
