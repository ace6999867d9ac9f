// With a datatype per block, the second block's displacement in bytes is easily miscounted:
// the write hits a column that is still being sent.
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
  MPI_Ialltoallw(matrix, counts, sources, columns, in, lengths, targets, plain, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  for (int i = 0; i < ROWS; i++) {
    matrix[i][3] = -1; //~ CS-BUF-01 access
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&column);

  MPI_Finalize();
  return 0;
}
