// Blocks are processed in the order of their arrival; the others stay pending.
//# np: 4
#include <mpi.h>

enum { LENGTH = 50 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int blocks[4][LENGTH];
  int sum = 0;
  if (rank == 0) {
    MPI_Request requests[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    for (int from = 1; from < 4; from++) {
      MPI_Irecv(blocks[from], LENGTH, MPI_INT, from, 0, MPI_COMM_WORLD, &requests[from]);
    }
    for (int n = 1; n < 4; n++) {
      int from;
      MPI_Waitany(4, requests, &from, MPI_STATUS_IGNORE);
      for (int i = 0; i < LENGTH; i++) {
        sum += blocks[from][i];
        blocks[from][i] = 0;
      }
    }
  } else {
    for (int i = 0; i < LENGTH; i++) {
      blocks[0][i] = rank;
    }
    MPI_Send(blocks[0], LENGTH, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }

  MPI_Finalize();
  return sum == (rank == 0 ? 6 * LENGTH : 0) ? 0 : 1;
}
