// Each partition is written after MPI_Start and before its own MPI_Pready.
//# mpi: mpich
#include <mpi.h>

enum { PARTITIONS = 4, LENGTH = 16 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static double data[PARTITIONS * LENGTH] = {0};
  MPI_Request request;
  if (rank == 0) {
    MPI_Psend_init(data, PARTITIONS, LENGTH, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    for (int p = 0; p < PARTITIONS; p++) {
      data[p * LENGTH] = p;
      MPI_Pready(p, request);
    }
  } else {
    MPI_Precv_init(data, PARTITIONS, LENGTH, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);

  MPI_Finalize();
  return data[3 * LENGTH] == 3 ? 0 : 1;
}
