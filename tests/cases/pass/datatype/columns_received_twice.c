// Receives into neighbouring columns of a matrix are pending together.
#include <mpi.h>

enum { ROWS = 20, COLUMNS = 8 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int matrix[ROWS][COLUMNS];
  MPI_Datatype column;
  MPI_Type_vector(ROWS, 1, COLUMNS, MPI_INT, &column);
  MPI_Type_commit(&column);
  if (rank == 0) {
    MPI_Request requests[2];
    MPI_Irecv(&matrix[0][2], 1, column, 1, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&matrix[0][3], 1, column, 1, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else {
    MPI_Send(&matrix[0][2], 1, column, 0, 0, MPI_COMM_WORLD);
    MPI_Send(&matrix[0][3], 1, column, 0, 1, MPI_COMM_WORLD);
  }
  MPI_Type_free(&column);

  MPI_Finalize();
  return 0;
}
