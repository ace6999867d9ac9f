// A persistent receive: data are used while the request is inactive.
#include <mpi.h>

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
      sum += data[0];
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    sum += data[0];
    MPI_Request_free(&request);
  }

  MPI_Finalize();
  return sum == (rank == 0 ? 0 : 6) ? 0 : 1;
}
