// A function reduces what it is given by address, on a communicator of its own: what it is called
// with in other places does not matter.
#include <mpi.h>

static MPI_Comm grid;

static void all_sum(double *value) {
  double total;
  MPI_Allreduce(value, &total, 1, MPI_DOUBLE, MPI_SUM, grid);
  *value = total;
}

int main(int argc, char **argv) {
  int rank, size, dims[2] = {0, 0}, periods[2] = {0, 0};
  double residual, step, share;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
  MPI_Comm_rank(grid, &rank);
  residual = step = share = rank + 1;
  all_sum(&step);
  all_sum(&share);
  all_sum(&residual);
  while (residual > 0.001) {
    MPI_Barrier(grid);
    residual /= step;
  }
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return 0;
}
