// Behind the part that this rank receives, the buffer is free.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int mine[5] = {1, 1, 1, 1, 1}, part[5];
  int counts[2] = {2, 3}, seen;
  MPI_Request request;
  MPI_Ireduce_scatter(mine, part, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  part[counts[rank]] = 5;
  seen = part[counts[rank]];
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  seen -= part[1];

  MPI_Finalize();
  return seen == 3 ? 0 : 1;
}
