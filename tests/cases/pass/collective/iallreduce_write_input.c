// The contribution to a nonblocking reduction may be read, and is updated after completion.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static double partial[3], total[3], before;
  MPI_Request request;
  partial[1] = 2;
  MPI_Iallreduce(partial, total, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  before = partial[1];
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  partial[2] = before;

  MPI_Finalize();
  return total[1] == 4 && total[2] == 0 && partial[2] == 2 ? 0 : 1;
}
