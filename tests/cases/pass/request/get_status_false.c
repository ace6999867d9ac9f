// MPI_Request_get_status said true: the buffer is complete, the request still to be released.
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int data[3];
  int done = 0, seen = 7;
  if (rank == 0) {
    MPI_Request request;
    MPI_Irecv(data, 3, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD);
    while (!done) {
      MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
    }
    seen = data[2];
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    data[2] = 7;
    MPI_Send(data, 3, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }

  MPI_Finalize();
  return seen == 7 ? 0 : 1;
}
