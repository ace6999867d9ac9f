/* A function of BLAS makes a number of data that each rank has its own of. */
#include <mpi.h>
#include <stdio.h>

extern double ddot_(const int *n, const double *x, const int *incx, const double *y, const int *incy);

static double r[100];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, n = 100, one = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double all = 0;
  for (int i = 0; i < n; i++) r[i] = rank + i;
  for (int step = 0; step < 50; step++) {
    double mine = ddot_(&n, r, &one, r, &one);
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (all < 1e-6) break;
    for (int i = 0; i < n; i++) r[i] *= 0.5;
  }
  printf("%g\n", all);
  MPI_Finalize();
}
