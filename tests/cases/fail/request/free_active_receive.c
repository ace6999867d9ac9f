// The request of an active receive is freed: nothing can tell when the message arrived.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int data[2];
  MPI_Request request;
  if (rank == 0) {
    MPI_Irecv(&data[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request); //~ CS-REQ-03 operation ranks=0
    MPI_Request_free(&request); //~ CS-REQ-03 access ranks=0
  } else {
    MPI_Send(&data[0], 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Finalize();
  return 0;
}
