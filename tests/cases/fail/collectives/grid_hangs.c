// The ranks make grids of different dimensions, of which some ranks are no part: Open MPI goes on,
// and hangs over it.
//# mpi: openmpi
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, dims[2] = {2, 1}, periods[2] = {0, 0}, value = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) dims[0] = 1;
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, rank == 0 ? 1 : 2, dims, periods, 0, &grid); //~ CS-COL-08 operation //~ CS-COL-08 access
  if (grid != MPI_COMM_NULL) {
    MPI_Bcast(&value, 1, MPI_INT, 0, grid);
    MPI_Comm_free(&grid);
  }
  MPI_Finalize();
  return 0;
}
