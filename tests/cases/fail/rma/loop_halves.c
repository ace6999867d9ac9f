// A loop adds to some elements of a window, by a mask; somebody puts into one of them.
//# flags: -O2
#include <mpi.h>
#include <stdio.h>

enum { N = 600 };

static double add(double *to, const char *mask) {
  double sum = 0;
  for (int i = 0; i < N; i++)
    if (mask[i]) {
      to[i] = i; //~ CS-RMA-03 access
      sum += i;
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
  MPI_Win_allocate(N * sizeof *window, sizeof *window, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < N; i++) window[i] = 1;
  MPI_Barrier(MPI_COMM_WORLD);

  static double out[N];
  static char mask[N];
  for (int i = 0; i < N; i++) mask[i] = i < N / 2;
  double result = add(window, mask);
  MPI_Put(out, 8, MPI_DOUBLE, peer, N / 2 - 8, 8, MPI_DOUBLE, win); //~ CS-RMA-03 operation
  MPI_Win_flush_all(win);
  MPI_Win_unlock_all(win);

  printf("%g\n", (double)result);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
