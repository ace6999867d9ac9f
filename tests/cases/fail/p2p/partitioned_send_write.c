// A partition is written after MPI_Pready gave it to MPI (MPI 4.1 §4.2.1).
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
      MPI_Pready(p, request); //~ CS-BUF-01 operation ranks=0
      data[p * LENGTH + 1] = p; //~ CS-BUF-01 access ranks=0
    }
  } else {
    MPI_Precv_init(data, PARTITIONS, LENGTH, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);

  MPI_Finalize();
  return 0;
}
