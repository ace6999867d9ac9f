// A column is sent while the other columns of the matrix are written.
#include <mpi.h>

enum { ROWS = 6, COLUMNS = 7 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static double matrix[ROWS][COLUMNS], in[ROWS];
  MPI_Datatype column;
  MPI_Type_vector(ROWS, 1, COLUMNS, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  MPI_Request request;
  MPI_Isend(&matrix[0][2], 1, column, peer, 0, MPI_COMM_WORLD, &request);
  for (int i = 0; i < ROWS; i++) {
    for (int j = 0; j < COLUMNS; j++) {
      if (j != 2) {
        matrix[i][j] = 1;
      }
    }
  }
  MPI_Recv(in, ROWS, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&column);

  MPI_Finalize();
  return in[5] == 0 ? 0 : 1;
}
