// Neighbours put their borders into each other's windows, and all go over the inner cells too
// early.
//# flags: -O2
#include <mpi.h>
#include <stdio.h>

enum { N = 254, STEPS = 20 };

static void smooth(const double *from, double *to) {
  for (int i = 1; i <= N; i++)
    to[i] = (from[i - 1] + from[i + 1]) / 2; //~ CS-RMA-03 access
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;

  static double cells[2][N + 2];
  MPI_Win win;
  MPI_Win_create(cells, sizeof cells, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (int i = 1; i <= N; i++) cells[0][i] = 3;
  MPI_Win_fence(0, win);
  for (int step = 0; step < STEPS; step++) {
    double *from = cells[step % 2], *to = cells[1 - step % 2];
    int base = step % 2 * (N + 2);
    MPI_Put(&from[1], 1, MPI_DOUBLE, left, base + N + 1, 1, MPI_DOUBLE, win); //~ CS-RMA-03 operation
    MPI_Put(&from[N], 1, MPI_DOUBLE, right, base, 1, MPI_DOUBLE, win); //~ CS-RMA-03 operation
    smooth(from, to);
    MPI_Win_fence(0, win);
  }

  printf("%g\n", cells[0][1]);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
