// MPI_Testsome is called until every request was named.
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
    MPI_Irecv(data[1], 4, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Testsome(2, requests, &n, which, MPI_STATUSES_IGNORE);
    MPI_Send(NULL, 0, MPI_INT, 1, 9, MPI_COMM_WORLD);
    while (left > 0) {
      MPI_Testsome(2, requests, &n, which, MPI_STATUSES_IGNORE);
      left -= n;
      for (int i = 0; i < n; i++) {
        data[which[i]][2] += 1;
      }
    }
  } else {
    data[0][2] = data[1][2] = 1;
    MPI_Recv(NULL, 0, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(data[0], 4, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    MPI_Send(data[1], 4, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
  }

  MPI_Finalize();
  return data[1][2] == (rank == 0 ? 2 : 1) ? 0 : 1;
}
