// A column of reals is received as reals, one after the other.
//# np: 2
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double grid[16] = {0}, line[4] = {0};
  MPI_Request request;
  MPI_Datatype column;
  MPI_Type_vector(4, 1, 4, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  if (rank == 0) {
    MPI_Isend(grid, 1, column, 1, 0, MPI_COMM_WORLD, &request);
  } else {
    MPI_Irecv(line, 4, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&column);
  MPI_Finalize();
  return 0;
}
