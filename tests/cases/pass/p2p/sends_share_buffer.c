// Several pending sends, nonblocking and blocking, may read one buffer.
//# np: 4
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  int data[30] = {0}, good = 1;
  if (rank == 0) {
    MPI_Request requests[2];
    data[29] = 7;
    MPI_Isend(data, 30, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Issend(data, 30, MPI_INT, 2, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Send(data, 30, MPI_INT, 3, 0, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else {
    MPI_Recv(data, 30, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    good = data[29] == 7;
  }

  MPI_Finalize();
  return good ? 0 : 1;
}
