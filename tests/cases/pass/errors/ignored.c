// Errors are returned, and the program asks which they are.
//# np: 2
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, line[8] = {0}, other[8] = {0}, class = MPI_ERR_TRUNCATE;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == 0) {
    MPI_Send(line, 8, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Send(line, 4, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Send(line, 8, MPI_INT, 1, 2, MPI_COMM_WORLD);
  } else {
    MPI_Recv(line, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Irecv(line, 4, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(other, 4, MPI_INT, 0, 2, MPI_COMM_WORLD, &requests[1]);
    if (MPI_Waitall(2, requests, statuses) != MPI_SUCCESS)
      MPI_Error_class(statuses[1].MPI_ERROR, &class);
  }
  MPI_Finalize();
  return class == MPI_ERR_TRUNCATE ? 0 : 1;
}
