// Datatypes whose last byte lies behind the buffer: a column of one row too many, blocks at
// displacements.
//# np: 2
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *grid = calloc(16, sizeof *grid);
  MPI_Datatype column, pieces;
  MPI_Type_vector(5, 1, 4, MPI_DOUBLE, &column);
  MPI_Type_indexed(2, (int[]){2, 3}, (int[]){0, 14}, MPI_DOUBLE, &pieces);
  MPI_Type_commit(&column);
  MPI_Type_commit(&pieces);
  MPI_Bcast(grid, 1, column, 0, MPI_COMM_WORLD); //~ CS-BUF-07 operation ranks=0,1
  MPI_Bcast(grid, 1, pieces, 0, MPI_COMM_WORLD); //~ CS-BUF-07 operation ranks=0,1
  int counts[] = {4, 4}, displs[] = {0, 13};
  double mine[4] = {0};
  MPI_Gatherv(mine, 4, MPI_DOUBLE, grid, counts, displs, MPI_DOUBLE, 0, MPI_COMM_WORLD); //~ CS-BUF-07 operation ranks=0
  MPI_Type_free(&column);
  MPI_Type_free(&pieces);
  free(grid);
  MPI_Finalize();
  return 0;
}
