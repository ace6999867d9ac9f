// Errors are returned, and nobody asks about them: a message longer than its receive, alone and
// among several.
//# np: 2
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, line[8] = {0}, other[8] = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == 0) {
    MPI_Send(line, 8, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Send(line, 4, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Send(line, 8, MPI_INT, 1, 2, MPI_COMM_WORLD);
  } else {
    MPI_Recv(line, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-ERR-03 operation ranks=1
    MPI_Request requests[2];
    MPI_Irecv(line, 4, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(other, 4, MPI_INT, 0, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); //~ CS-ERR-03 operation ranks=1
    printf("%d\n", line[0]);
  }
  MPI_Finalize();
  return 0;
}
