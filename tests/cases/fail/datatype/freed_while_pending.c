// Freeing the datatype does not end the operation: the column still is not the program's.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int matrix[4][4], out[4] = {1, 2, 3, 4};
  int seen;
  MPI_Datatype column;
  MPI_Type_vector(4, 1, 4, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_Request request;
  MPI_Irecv(&matrix[0][3], 1, column, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation
  MPI_Type_free(&column);
  MPI_Send(out, 4, MPI_INT, peer, 0, MPI_COMM_WORLD);
  seen = matrix[3][3]; //~ CS-BUF-02 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  printf("%s\n", seen == 4 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
