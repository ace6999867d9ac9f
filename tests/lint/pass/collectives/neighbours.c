/* Neighbours differ, collectives do not depend on them. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  MPI_Comm grid;
  int dims[1] = {0}, periods[1] = {0}, left, right;
  MPI_Dims_create(size, 1, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 1, &grid);
  MPI_Cart_shift(grid, 0, 1, &left, &right);
  for (int step = 0; step < 3; step++) {
    if (left != MPI_PROC_NULL) MPI_Send(&x, 1, MPI_DOUBLE, left, 0, grid);
    if (right != MPI_PROC_NULL)
      MPI_Recv(&y, 1, MPI_DOUBLE, right, 0, grid, MPI_STATUS_IGNORE);
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_MAX, grid);
    if (x > 1e6) break;
  }
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return (int)(x - y) & 0;
}
