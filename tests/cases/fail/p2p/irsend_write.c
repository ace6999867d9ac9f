// A ready send is still pending when its buffer is written.
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  double data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  MPI_Request request;
  if (rank == 1) {
    MPI_Irecv(data, 8, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irsend(data, 8, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation ranks=0
    data[2] = -1; //~ CS-BUF-01 access ranks=0
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }

  MPI_Finalize();
  return 0;
}
