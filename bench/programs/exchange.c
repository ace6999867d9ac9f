/* A 5-point stencil on two ranks, which exchange a row in each step while they compute the others.
 * The mean counts, for what guards cost changes from step to step.
 *
 *   exchange BYTES_OF_A_ROW ROWS SECONDS */
#include "measure.h"
#include <string.h>

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 4 || ranks != 2) {
    fprintf(stderr, "usage: mpirun -n 2 exchange BYTES_OF_A_ROW ROWS SECONDS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const long width = atol(argv[1]) / (long)sizeof(double), rows = atol(argv[2]);
  double *old = calloc((size_t)(width * rows), sizeof *old), *new = calloc((size_t)(width * rows), sizeof *new);
  double *out = calloc((size_t)width, sizeof *out), *in = calloc((size_t)width, sizeof *in);
  for (long i = 0; i < width * rows; i++) old[i] = (double)((i * 7 + rank) % 11);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now(), end = begin + atof(argv[3]);
  long steps = 0;
  for (int go_on = 1; go_on; steps++) {
    MPI_Request requests[2];
    memcpy(out, &old[width], (size_t)width * sizeof *out);
    MPI_Irecv(in, (int)width, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, (int)width, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    for (long y = 1; y < rows - 1; y++) {
      for (long x = 1; x < width - 1; x++) {
        const double *at = &old[y * width + x];
        new[y * width + x] = 0.2 * (at[0] + at[-1] + at[1] + at[-width] + at[width]);
      }
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    memcpy(new, in, (size_t)width * sizeof *in);
    double *other = old;
    old = new;
    new = other;
    if (steps % 16 == 15) {
      go_on = now() < end;
      MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
  }
  const double measured = (now() - begin) / (double)steps;
  if (rank == 0) printf("measured %.9g s\n", measured);
  MPI_Finalize();
  return old[width] < 0;
}
