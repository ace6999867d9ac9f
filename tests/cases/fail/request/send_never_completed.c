// A send is never completed; that its message arrived does not release the request.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int data[2];
  if (rank == 0) {
    MPI_Request request;
    data[0] = 7;
    MPI_Isend(&data[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request); //~ CS-REQ-01 operation ranks=0
    MPI_Recv(&data[1], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&data[1], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&data[1], 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }

  MPI_Finalize();
  return 0;
}
