/* A sum over a buffer that is being received, which the compiler does in order, with vectors. */
//# flags: -O2
//# cc: gcc
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double total(const double *values, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++)
    sum += values[i]; //~ CS-BUF-02 access
  return sum;
}

int main(int argc, char **argv) {
  int rank;
  MPI_Request requests[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *in = calloc(1000, sizeof *in), *out = calloc(1000, sizeof *out), sum;
  MPI_Irecv(in, 1000, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]); //~ CS-BUF-02 operation
  MPI_Isend(out, 1000, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
  sum = total(in, 1000);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  printf("%g\n", sum);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
