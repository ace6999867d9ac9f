// Datatypes are made of nothing, of a negative number, of a null handle, into nowhere. The library
// is asked for error codes.
//# np: 1
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Datatype type;
  MPI_Type_contiguous(-1, MPI_INT, &type); //~ CS-ARG-01 operation
  MPI_Type_vector(2, -3, 4, MPI_INT, &type); //~ CS-ARG-01 operation
  MPI_Type_contiguous(2, MPI_DATATYPE_NULL, &type); //~ CS-ARG-01 operation
  MPI_Type_contiguous(2, MPI_INT, NULL); //~ CS-ARG-01 operation
  int value = 0;
  MPI_Irecv(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, NULL); //~ CS-ARG-01 operation
  MPI_Finalize();
  return 0;
}
