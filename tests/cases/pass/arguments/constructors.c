// Datatypes are made of nothing in a legal way, of types that are not committed, with negative
// strides.
//# np: 1
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Datatype none, vector, pair;
  MPI_Type_contiguous(0, MPI_INT, &none);
  MPI_Type_vector(2, 3, -4, MPI_INT, &vector);
  MPI_Type_contiguous(2, vector, &pair);
  MPI_Type_commit(&pair);
  int values[20] = {0};
  MPI_Request request;
  MPI_Irecv(&values[4], 1, pair, 0, 0, MPI_COMM_SELF, &request);
  MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&none);
  MPI_Type_free(&vector);
  MPI_Type_free(&pair);
  MPI_Finalize();
  return 0;
}
