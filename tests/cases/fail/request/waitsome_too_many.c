// MPI_Waitsome completed one request of three, but all blocks are used.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static long data[3];
  long sum = 0;
  if (rank == 0) {
    MPI_Request requests[3];
    int n, which[3], left = 3;
    for (int i = 0; i < 3; i++) {
      MPI_Irecv(&data[i], 1, MPI_LONG, 1, i, MPI_COMM_WORLD, &requests[i]); //~ CS-BUF-02 operation ranks=0
    }
    for (int round = 0; left > 0; round++) {
      MPI_Waitsome(3, requests, &n, which, MPI_STATUSES_IGNORE);
      left -= n;
      for (int i = 0; i < 3; i++) {
        sum += data[i]; //~ CS-BUF-02 access ranks=0
      }
      if (round == 0) {
        MPI_Send(NULL, 0, MPI_INT, 1, 9, MPI_COMM_WORLD);
      }
    }
  } else {
    data[0] = data[1] = data[2] = 2;
    MPI_Send(&data[1], 1, MPI_LONG, 0, 1, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&data[0], 1, MPI_LONG, 0, 0, MPI_COMM_WORLD);
    MPI_Send(&data[2], 1, MPI_LONG, 0, 2, MPI_COMM_WORLD);
  }

  printf("%s\n", sum == (rank == 0 ? 6 : 0) ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
