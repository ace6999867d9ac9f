// With MPI_IN_PLACE the one buffer is reset before completion.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int flags[20];
  flags[19] = rank;
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, flags, 10, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request); //~ CS-BUF-03 operation
  for (int i = 8; i < 12; i++) {
    flags[i] = -1; //~ CS-BUF-03 access
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
