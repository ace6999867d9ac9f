// With MPI_IN_PLACE the elements behind the count may be used.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int flags[20];
  flags[19] = rank;
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, flags, 10, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
  for (int i = 10; i < 12; i++) {
    flags[i] = -1;
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return flags[19] == rank && flags[0] == 0 ? 0 : 1;
}
