// In a persistent send's second round the buffer is refilled after MPI_Start instead of before.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  double data[40];
  int good = 1;
  if (rank == 0) {
    MPI_Request request;
    MPI_Send_init(data, 40, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
    data[0] = 0;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int step = 1; step < 3; step++) {
      MPI_Start(&request); //~ CS-BUF-01 operation ranks=0
      data[0] = step; //~ CS-BUF-01 access ranks=0
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
  } else {
    for (int step = 0; step < 3; step++) {
      MPI_Recv(data, 40, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      good = good && data[0] == step;
    }
  }

  printf("%s\n", good ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
