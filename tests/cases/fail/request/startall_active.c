// MPI_Startall gets a request that an earlier MPI_Start made active.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int data[2];
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Request requests[2];
  if (rank == 0) {
    MPI_Send_init(&data[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&data[1], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Start(&requests[0]); //~ CS-REQ-04 operation ranks=0
    MPI_Startall(2, requests); //~ CS-REQ-04 access ranks=0
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
  } else {
    MPI_Recv(&data[0], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  MPI_Finalize();
  return 0;
}
