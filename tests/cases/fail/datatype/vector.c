// An element of the column that is being sent is written.
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
  MPI_Isend(&matrix[0][2], 1, column, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  for (int j = 0; j < COLUMNS; j++) {
    matrix[5][j] = 1; //~ CS-BUF-01 access
  }
  MPI_Recv(in, ROWS, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&column);

  MPI_Finalize();
  return 0;
}
