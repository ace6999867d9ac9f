// More is sent than there is room for, and the program handles the error.
//# np: 2
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, line[8] = {0}, error = MPI_SUCCESS, class = MPI_SUCCESS;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == 0) {
    MPI_Send(line, 8, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    error = MPI_Recv(line, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Error_class(error, &class);
  }
  MPI_Finalize();
  return rank == 1 && class != MPI_ERR_TRUNCATE;
}
