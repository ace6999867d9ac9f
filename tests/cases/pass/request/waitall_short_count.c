// MPI_Waitall is given all requests.
//# np: 4
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int blocks[3][5];
  int sum = 0;
  if (rank == 0) {
    MPI_Request requests[3];
    for (int i = 0; i < 2; i++) {
      MPI_Irecv(blocks[i], 5, MPI_INT, i + 1, 0, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Irecv(blocks[2], 5, MPI_INT, 3, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++) {
      sum += blocks[i][4];
    }
  } else {
    blocks[0][4] = 1;
    MPI_Send(blocks[0], 5, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Finalize();
  return sum == (rank == 0 ? 3 : 0) ? 0 : 1;
}
