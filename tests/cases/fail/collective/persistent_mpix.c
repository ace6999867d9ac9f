// A persistent broadcast, as Open MPI 4 has it, is pending from MPI_Start on: the next value comes
// too early.
//# mpi: openmpi
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int data[4];
  int sum = 0;
  MPI_Request request;
  MPIX_Bcast_init(data, 4, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int step = 1; step <= 3; step++) {
    MPI_Start(&request); //~ CS-BUF-01 operation ranks=0
    if (rank == 0) {
      data[3] = step; //~ CS-BUF-01 access ranks=0
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sum += data[3];
  }
  MPI_Request_free(&request);

  printf("%s\n", sum == 6 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
