// MPI_Waitany completed one receive, but the other one's block is read.
#include <mpi.h>
#include <stdio.h>

enum { LENGTH = 100 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  int blocks[2][LENGTH] = {{0}}, sum = 0;
  if (rank == 0) {
    MPI_Request requests[2];
    int index;
    for (int b = 0; b < 2; b++) {
      MPI_Irecv(blocks[b], LENGTH, MPI_INT, 1, b, MPI_COMM_WORLD, &requests[b]); //~ CS-BUF-02 operation ranks=0
    }
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    sum += blocks[1 - index][0]; //~ CS-BUF-02 access ranks=0
    MPI_Send(NULL, 0, MPI_INT, 1, 9, MPI_COMM_WORLD);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    sum += blocks[index][0];
  } else {
    blocks[0][0] = 3;
    MPI_Send(blocks[0], LENGTH, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    blocks[1][0] = 4;
    MPI_Send(blocks[1], LENGTH, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }

  printf("%s\n", sum == (rank == 0 ? 7 : 0) ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
