// A function reads the pending receive buffer through a pointer kept in a global table.
#include <mpi.h>
#include <stdlib.h>

enum { BLOCKS = 4, LENGTH = 10 };
static float *table[BLOCKS];

static float sum_block(int b) {
  float sum = 0;
  for (int i = 0; i < LENGTH; i++) {
    sum += table[b][i]; //~ CS-BUF-02 access
  }
  return sum;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  float *in = calloc(BLOCKS * LENGTH, sizeof(float)), out[BLOCKS * LENGTH];
  for (int b = 0; b < BLOCKS; b++) {
    table[b] = in + b * LENGTH;
  }
  for (int i = 0; i < BLOCKS * LENGTH; i++) {
    out[i] = 1;
  }

  MPI_Request request;
  MPI_Irecv(in, BLOCKS * LENGTH, MPI_FLOAT, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation
  MPI_Send(out, BLOCKS * LENGTH, MPI_FLOAT, peer, 0, MPI_COMM_WORLD);
  float sum = sum_block(2);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  out[0] = sum;
  free(in);

  MPI_Finalize();
  return 0;
}
