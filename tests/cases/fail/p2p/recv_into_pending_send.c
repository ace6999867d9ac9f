// A blocking receive writes to the buffer of a pending send.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  int data[50] = {0};
  if (rank == 0) {
    MPI_Request request;
    data[0] = 7;
    MPI_Isend(data, 50, MPI_INT, 1, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-04 operation ranks=0
    MPI_Recv(data + 25, 25, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-BUF-04 access ranks=0
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(data, 50, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    data[25] = 9;
    MPI_Send(data + 25, 25, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }

  MPI_Finalize();
  return 0;
}
