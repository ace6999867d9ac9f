// The same all-to-all of two columns; a column that is not sent is written meanwhile.
#include <mpi.h>

enum { ROWS = 4, COLUMNS = 5 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static double matrix[ROWS][COLUMNS], in[2][ROWS];
  int counts[2] = {1, 1}, sources[2] = {0, 3 * sizeof(double)};
  int lengths[2] = {ROWS, ROWS}, targets[2] = {0, ROWS * sizeof(double)};
  MPI_Datatype column, columns[2], plain[2] = {MPI_DOUBLE, MPI_DOUBLE};
  MPI_Type_vector(ROWS, 1, COLUMNS, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  columns[0] = columns[1] = column;
  for (int i = 0; i < ROWS; i++) {
    matrix[i][rank == 0 ? 0 : 3] = i;
  }
  MPI_Request request;
  MPI_Ialltoallw(matrix, counts, sources, columns, in, lengths, targets, plain, MPI_COMM_WORLD, &request);
  for (int i = 0; i < ROWS; i++) {
    matrix[i][2] = -1;
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&column);

  MPI_Finalize();
  return in[rank][3] == 3 ? 0 : 1;
}
