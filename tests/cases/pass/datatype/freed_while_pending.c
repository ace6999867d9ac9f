// The datatype may be freed while an operation uses it (MPI 4.1 §5.1.9).
#include <mpi.h>

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
  MPI_Irecv(&matrix[0][3], 1, column, peer, 0, MPI_COMM_WORLD, &request);
  MPI_Type_free(&column);
  MPI_Send(out, 4, MPI_INT, peer, 0, MPI_COMM_WORLD);
  seen = matrix[3][2];
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  seen += matrix[3][3];

  MPI_Finalize();
  return seen == 4 ? 0 : 1;
}
