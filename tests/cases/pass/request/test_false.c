// The buffer is read when MPI_Test says true.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int data[4];
  int done = 0, seen = 7;
  if (rank == 0) {
    MPI_Request request;
    MPI_Irecv(data, 4, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    MPI_Send(&done, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    while (!done) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    seen = data[3];
  } else {
    MPI_Recv(&done, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    data[3] = 7;
    MPI_Send(data, 4, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }

  MPI_Finalize();
  return seen == 7 ? 0 : 1;
}
