/* The send and the receive of a boundary are waited for before their buffers are used. */
//# hooks: none
//# options: --guards
//# flags: -O1 -fno-inline
#include <mpi.h>
#include <stdlib.h>

enum { SIZE = 50000 };

static void unpack(const double *from, double *sum) {
  for (int i = 0; i < SIZE; i++) *sum += from[i];
}

static void pack(double *to, int step) {
  for (int i = 0; i < SIZE; i++) to[i] = step + i;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *out = calloc(SIZE, sizeof *out), *in = calloc(SIZE, sizeof *in), sum = 0;
  MPI_Request requests[2];
  MPI_Irecv(in, SIZE, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, SIZE, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  unpack(in, &sum);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  pack(out, 1);
  free(out);
  free(in);
  MPI_Finalize();
  return sum < 0;
}
