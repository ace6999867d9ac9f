/* A program that commsan has compiled passes pending buffers to a library that it has not. */
#ifdef LIBRARY

void scale(double *values, int count) {
  for (int i = 0; i < count; i++) values[i] *= 2;
}

double total(const double *values, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += values[i];
  return sum;
}

#else
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

void scale(double *values, int count);
double total(const double *values, int count);

enum { COUNT = 30000 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, is_early = argc > 1 && strcmp(argv[1], "early") == 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *out = calloc(COUNT, sizeof *out), *in = calloc(COUNT, sizeof *in), sum = 0;
  MPI_Request requests[2];
  MPI_Irecv(in, COUNT, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, COUNT, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
  if (!is_early) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  scale(out, COUNT);
  sum += total(in, COUNT);
  out[COUNT / 2] = sum;
  if (is_early) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  free(out);
  free(in);
  MPI_Finalize();
}
#endif
