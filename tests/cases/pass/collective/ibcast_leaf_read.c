// A process that is not the root reads the broadcast's buffer after MPI_Test said true.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static double data[10];
  double value = 7;
  MPI_Request request;
  if (rank == 1) {
    data[9] = 7;
  }
  MPI_Ibcast(data, 10, MPI_DOUBLE, 1, MPI_COMM_WORLD, &request);
  int done = 0;
  while (!done) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
  value = data[9];

  MPI_Finalize();
  return value == 7 ? 0 : 1;
}
