// A loop reads one half of a window and writes the other one, into which somebody puts.
//# flags: -O2
#include <mpi.h>
#include <stdio.h>

enum { N = 1000 };

static double walk(const double *from, double *to) {
  double sum = 0;
  for (int i = 0; i < N; i++) {
    sum += from[i];
    to[i] = sum; //~ CS-RMA-03 access
  }
  return sum;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  double *window;
  MPI_Win win;
  MPI_Win_allocate((2 * N + 2) * sizeof *window, sizeof *window, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < 2 * N + 2; i++) window[i] = 1;
  MPI_Barrier(MPI_COMM_WORLD);

  double result = walk(window, window + N), out = 7;
  MPI_Put(&out, 1, MPI_DOUBLE, peer, N + 321, 1, MPI_DOUBLE, win); //~ CS-RMA-03 operation
  MPI_Win_flush_all(win);
  MPI_Win_unlock_all(win);

  printf("%g\n", (double)result);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
