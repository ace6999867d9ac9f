// A persistent receive is started for the next round before this round's data were used.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  int data[8] = {0}, sum = 0;
  if (rank == 0) {
    for (int step = 1; step <= 3; step++) {
      data[0] = step;
      MPI_Send(data, 8, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
  } else {
    MPI_Request request;
    MPI_Recv_init(data, 8, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int step = 2; step <= 3; step++) {
      MPI_Start(&request); //~ CS-BUF-02 operation ranks=1
      sum += data[0]; //~ CS-BUF-02 access ranks=1
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    sum += data[0];
    MPI_Request_free(&request);
  }

  printf("%s\n", sum == (rank == 0 ? 0 : 6) ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
