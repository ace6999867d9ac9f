// The buffers of a send and a receive share an element.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int data[8] = {0};
  MPI_Request requests[2];
  MPI_Irecv(data, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(data + 4, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Finalize();
  return 0;
}
