// MPI_Testany completed one send, and the other one's buffer is refilled.
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int data[2];
  if (rank == 0) {
    MPI_Request requests[2];
    int index = MPI_UNDEFINED, done = 0;
    MPI_Issend(&data[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Issend(&data[1], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[1]); //~ CS-BUF-01 operation ranks=0
    while (!done) {
      MPI_Testany(2, requests, &index, &done, MPI_STATUS_IGNORE);
    }
    data[1 - index] = 5; //~ CS-BUF-01 access ranks=0
    MPI_Send(NULL, 0, MPI_INT, 1, 2, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else {
    MPI_Recv(&data[0], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(NULL, 0, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&data[1], 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  MPI_Finalize();
  return 0;
}
