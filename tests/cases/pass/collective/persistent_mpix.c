// A persistent broadcast: the next value is stored while it is inactive.
//# mpi: openmpi
#include <mpi.h>
#include <mpi-ext.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int data[4];
  int sum = 0;
  MPI_Request request;
  MPIX_Bcast_init(data, 4, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int step = 1; step <= 3; step++) {
    if (rank == 0) {
      data[3] = step;
    }
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sum += data[3];
  }
  MPI_Request_free(&request);

  MPI_Finalize();
  return sum == 6 ? 0 : 1;
}
