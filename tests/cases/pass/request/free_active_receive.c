// The request of an active send may be freed; an answer tells that the message arrived.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int data[2];
  MPI_Request request;
  if (rank == 0) {
    data[0] = 7;
    MPI_Isend(&data[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Recv(&data[1], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    data[0] = 8;
  } else {
    MPI_Recv(&data[1], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&data[1], 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }

  MPI_Finalize();
  return data[1] == 7 ? 0 : 1;
}
