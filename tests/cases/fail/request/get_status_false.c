// MPI_Request_get_status said false, and the buffer is read.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int data[3];
  int done = 0, seen = 7;
  if (rank == 0) {
    MPI_Request request;
    MPI_Irecv(data, 3, MPI_INT, 1, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation ranks=0
    MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
    seen = data[2]; //~ CS-BUF-02 access ranks=0
    MPI_Send(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    data[2] = 7;
    MPI_Send(data, 3, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }

  printf("%s\n", seen == 7 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
