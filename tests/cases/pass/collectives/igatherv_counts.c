// The root expects less of the last rank than of the others.
//# np: 3
//# flags: -O0
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double mine[4] = {rank}, all[12] = {0};
  int counts[3] = {4, 4, 2}, places[3] = {0, 4, 8};
  MPI_Request request;
  if (rank == 0) {
    MPI_Igatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, places, MPI_DOUBLE, 0,
                 MPI_COMM_WORLD, &request);
  } else {
    MPI_Igatherv(mine, rank == size - 1 ? 2 : 4, MPI_DOUBLE, 0, 0, 0, MPI_DATATYPE_NULL, 0,
                 MPI_COMM_WORLD, &request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
