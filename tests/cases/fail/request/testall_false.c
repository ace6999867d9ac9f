// MPI_Testall said false: none of the requests counts as completed, also not the arrived one.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int data[2];
  int done = 0, seen = 3;
  if (rank == 0) {
    MPI_Request requests[2];
    MPI_Irecv(&data[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[0]); //~ CS-BUF-02 operation ranks=0
    MPI_Irecv(&data[1], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Recv(NULL, 0, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    seen = data[0]; //~ CS-BUF-02 access ranks=0
    MPI_Send(NULL, 0, MPI_INT, 1, 3, MPI_COMM_WORLD);
    while (!done) {
      MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    }
  } else {
    data[0] = 3;
    MPI_Send(&data[0], 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Send(NULL, 0, MPI_INT, 0, 2, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&data[1], 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }

  printf("%s\n", seen == 3 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
