// Messages with ranks, tags, counts and handles that do not exist. The library returns an error for
// each.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int rank, size, value = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm twin;
  MPI_Comm_dup(MPI_COMM_SELF, &twin);
  MPI_Comm_set_errhandler(twin, MPI_ERRORS_RETURN);
  MPI_Request request = MPI_REQUEST_NULL;
  int negative = -rank - 3, large = size + rank, *nothing = NULL;

  if (rank == 1) {
    MPI_Send(&value, 1, MPI_INT, large, 0, MPI_COMM_WORLD); //~ CS-ARG-01 operation ranks=1
    MPI_Isend(&value, 1, MPI_INT, 1, 0, twin, &request); //~ CS-ARG-01 operation ranks=1
    MPI_Send(&value, 1, MPI_INT, 0, negative, MPI_COMM_WORLD); //~ CS-ARG-01 operation ranks=1
    MPI_Send(&value, negative, MPI_INT, 0, 0, MPI_COMM_WORLD); //~ CS-ARG-01 operation ranks=1
    MPI_Ssend(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD); //~ CS-ARG-01 operation ranks=1
    MPI_Irecv(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &request); //~ CS-ARG-01 operation ranks=1
    MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, nothing, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, //~ CS-ARG-01 operation ranks=1
                 MPI_STATUS_IGNORE);
  }
  MPI_Comm_free(&twin);
  MPI_Finalize();
  return 0;
}
