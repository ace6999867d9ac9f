// MPI_Testsome completed nothing yet, and the buffer is cleared.
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static double data[2][4];
  if (rank == 0) {
    MPI_Request requests[2];
    int n = 0, which[2], left = 2;
    MPI_Irecv(data[0], 4, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(data[1], 4, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &requests[1]); //~ CS-BUF-03 operation ranks=0
    MPI_Testsome(2, requests, &n, which, MPI_STATUSES_IGNORE);
    data[1][2] = 0; //~ CS-BUF-03 access ranks=0
    MPI_Send(NULL, 0, MPI_INT, 1, 9, MPI_COMM_WORLD);
    while (left > 0) {
      MPI_Testsome(2, requests, &n, which, MPI_STATUSES_IGNORE);
      left -= n;
    }
  } else {
    data[0][2] = data[1][2] = 1;
    MPI_Recv(NULL, 0, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(data[0], 4, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    MPI_Send(data[1], 4, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
  }

  MPI_Finalize();
  return 0;
}
