// qsort sorts the keys that are there while the others are being received.
#include <mpi.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int keys[40], out[20];
  for (int i = 0; i < 20; i++) {
    keys[i] = 20 - i;
    out[i] = 7;
  }
  MPI_Request request;
  MPI_Irecv(keys + 20, 20, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  qsort(keys, 20, sizeof(int), by_value);
  MPI_Send(out, 20, MPI_INT, peer, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return keys[0] == 1 && keys[39] == 7 ? 0 : 1;
}
