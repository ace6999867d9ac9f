// All that a call writes may differ, not its first element only; a broadcast makes the same what it
// writes, no more.
#include <mpi.h>

static struct {
  int mode, steps;
} run;

int main(int argc, char **argv) {
  int rank, size, here[2], pair[2] = {0}, dims[2] = {0, 0}, periods[2] = {0, 0};
  MPI_Comm grid;
  MPI_Status status;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_coords(grid, rank, 2, here);
  if (dims[1] == 1)
    MPI_Barrier(grid);
  MPI_Sendrecv(here, 1, MPI_INT, (rank + 1) % size, rank, pair, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, grid, &status);
  if (pair[1] == 0)
    MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(&status.MPI_TAG, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (status.MPI_TAG == 1)
    MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    run.mode = 1;
    run.steps = argc;
  }
  MPI_Bcast(&run, 2, MPI_INT, 0, MPI_COMM_WORLD);
  for (int step = 0; step < run.steps; step++)
    MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
