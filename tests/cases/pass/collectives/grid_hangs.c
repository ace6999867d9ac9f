// All ranks make the same grid.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, dims[2] = {2, 1}, periods[2] = {0, 0}, value = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  if (grid != MPI_COMM_NULL) {
    MPI_Bcast(&value, 1, MPI_INT, 0, grid);
    MPI_Comm_free(&grid);
  }
  MPI_Finalize();
  return 0;
}
