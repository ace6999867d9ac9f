// The root writes between the blocks that the scatter is sending.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static double all[12], part[4];
  int counts[2] = {4, 3}, displacements[2] = {8, 1};
  MPI_Request request;
  MPI_Iscatterv(all, counts, displacements, MPI_DOUBLE, part, counts[rank], MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
  if (rank == 0) {
    all[0] = 1;
    all[4] = 1;
    all[7] = 1;
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return part[2] == 0 ? 0 : 1;
}
