// The root overwrites a block that the scatter is still sending.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static double all[12], part[4];
  int counts[2] = {4, 3}, displacements[2] = {8, 1};
  MPI_Request request;
  MPI_Iscatterv(all, counts, displacements, MPI_DOUBLE, part, counts[rank], MPI_DOUBLE, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation ranks=0
  if (rank == 0) {
    all[3] = 1; //~ CS-BUF-01 access ranks=0
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
