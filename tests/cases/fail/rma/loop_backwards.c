// A loop goes through a window backwards, as far as where somebody puts.
//# flags: -O2
#include <mpi.h>
#include <stdio.h>

enum { N = 700, LAST = 33 };

static void shift(float *values) {
  for (int i = N - 2; i > LAST; i--)
    values[i + 1] = values[i]; //~ CS-RMA-03 access
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  float *window;
  MPI_Win win;
  MPI_Win_allocate(N * sizeof *window, sizeof *window, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < N; i++) window[i] = i;
  MPI_Barrier(MPI_COMM_WORLD);

  float result = 0, out = 7;
  shift(window);
  MPI_Put(&out, 1, MPI_FLOAT, peer, N - 1, 1, MPI_FLOAT, win); //~ CS-RMA-03 operation
  MPI_Win_flush_all(win);
  MPI_Win_unlock_all(win);

  printf("%g\n", (double)result);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
