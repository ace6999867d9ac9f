// Types that are not committed, beside those that need not be.
#include <mpi.h>

int main(int argc, char **argv) {
  int rank, grid[64] = {0}, sums[64];
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Datatype cell, column, row;
  MPI_Type_create_resized(MPI_INT, 0, 8 * sizeof(int), &cell);
  MPI_Type_contiguous(8, cell, &column);
  MPI_Type_commit(&column);
  MPI_Type_contiguous(8, MPI_INT, &row);
  if (rank == 0) {
    MPI_Send(grid, 1, column, 1, 0, MPI_COMM_WORLD);
    MPI_Send(grid, 8, cell, 1, 1, MPI_COMM_WORLD); //~ CS-ARG-02 operation ranks=0
  } else {
    MPI_Recv(grid, 1, column, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Allgather(grid, 1, row, sums, 1, row, MPI_COMM_SELF); //~ CS-ARG-02 operation ranks=0,1
  MPI_Type_free(&cell);
  MPI_Type_free(&column);
  MPI_Type_free(&row);
  MPI_Finalize();
  return 0;
}
