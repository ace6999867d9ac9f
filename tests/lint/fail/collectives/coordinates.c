/* The condition is a coordinate of a Cartesian topology. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  MPI_Comm grid;
  int dims[2] = {1, 1}, periods[2] = {0}, at[2];
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Cart_coords(grid, rank, 2, at);
  if (at[0] == 0) //~ CS-COL-01 cause possible
    MPI_Barrier(grid); //~ CS-COL-01 access possible
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return (int)(x - y) & 0;
}
