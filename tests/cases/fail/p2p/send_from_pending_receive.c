// A blocking send forwards a receive buffer whose receive is still pending.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  int data[12] = {0};
  if (rank == 0) {
    data[11] = 7;
    MPI_Send(data, 12, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Request request;
    MPI_Irecv(data, 12, MPI_INT, 0, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-04 operation ranks=1
    MPI_Send(data, 12, MPI_INT, 2, 0, MPI_COMM_WORLD); //~ CS-BUF-04 access ranks=1
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(data, 12, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  MPI_Finalize();
  return 0;
}
