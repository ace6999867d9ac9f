/* Neither the send nor the receive of a boundary is waited for before its buffer is used. */
//# hooks: none
//# options: --guards
//# flags: -O1 -fno-inline
#include <mpi.h>
#include <stdlib.h>

enum { SIZE = 50000 };

static void unpack(const double *from, double *sum) {
  for (int i = 0; i < SIZE; i++) *sum += from[i]; //~ CS-BUF-02 access
}

static void pack(double *to, int step) {
  for (int i = 0; i < SIZE; i++) to[i] = step + i; //~ CS-BUF-01 access
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *out = calloc(SIZE, sizeof *out), *in = calloc(SIZE, sizeof *in), sum = 0;
  MPI_Request requests[2];
  MPI_Irecv(in, SIZE, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]); //~ CS-BUF-02 operation //~ CS-REQ-01 operation
  MPI_Isend(out, SIZE, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]); //~ CS-BUF-01 operation //~ CS-REQ-01 operation
  unpack(in, &sum);
  pack(out, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return sum < 0;
}
