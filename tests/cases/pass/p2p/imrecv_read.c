// A matched receive, read after MPI_Wait.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int data[10] = {0};
  if (rank == 0) {
    data[9] = 7;
    MPI_Send(data, 10, MPI_INT, 1, 5, MPI_COMM_WORLD);
  } else {
    MPI_Message message;
    MPI_Request request;
    MPI_Mprobe(0, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(data, 10, MPI_INT, &message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    int last = data[9];
    data[0] = last;
  }

  MPI_Finalize();
  return data[0] == (rank == 0 ? 0 : 7) ? 0 : 1;
}
