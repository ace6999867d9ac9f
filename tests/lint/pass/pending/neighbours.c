// As many requests as there are neighbours; one wait for all.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int in[2] = {0}, out = rank, n = 0, size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Request requests[4];
  if (rank > 0) {
    MPI_Irecv(&in[0], 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, &requests[n++]);
    MPI_Isend(&out, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, &requests[n++]);
  }
  if (rank + 1 < size) {
    MPI_Irecv(&in[1], 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD, &requests[n++]);
    MPI_Isend(&out, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD, &requests[n++]);
  }
  if (n > 0) MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
  out = in[0] + in[1];
  printf("%d\n", out);
  MPI_Finalize();
  return 0;
}
