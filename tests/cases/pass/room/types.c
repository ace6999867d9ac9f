// Datatypes that end with the buffer, although their extent does not; and one whose parts lie in
// several blocks.
//# np: 2
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *grid = calloc(16, sizeof *grid);
  MPI_Datatype column, pieces, row, several;
  MPI_Type_vector(4, 1, 4, MPI_DOUBLE, &column);
  MPI_Type_create_resized(column, 0, sizeof(double), &row);
  MPI_Type_indexed(2, (int[]){2, 3}, (int[]){0, 13}, MPI_DOUBLE, &pieces);
  int *first = calloc(3, sizeof *first), *second = calloc(5, sizeof *second);
  MPI_Aint places[2];
  MPI_Get_address(first, &places[0]);
  MPI_Get_address(second, &places[1]);
  MPI_Type_create_hindexed(2, (int[]){3, 5}, places, MPI_INT, &several);
  MPI_Type_commit(&row);
  MPI_Type_commit(&pieces);
  MPI_Type_commit(&several);
  MPI_Bcast(grid, 4, row, 0, MPI_COMM_WORLD);
  MPI_Bcast(grid, 1, pieces, 0, MPI_COMM_WORLD);
  MPI_Bcast(MPI_BOTTOM, 1, several, 0, MPI_COMM_WORLD);
  int counts[] = {4, 4}, displs[] = {0, 12};
  double mine[4] = {0};
  MPI_Gatherv(mine, 4, MPI_DOUBLE, grid, counts, displs, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Type_free(&column);
  MPI_Type_free(&row);
  MPI_Type_free(&pieces);
  MPI_Type_free(&several);
  free(grid);
  free(first);
  free(second);
  MPI_Finalize();
  return 0;
}
