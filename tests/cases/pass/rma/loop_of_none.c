// A loop makes no iteration while somebody puts into all elements.
//# flags: -O2
#include <mpi.h>
#include <stdio.h>

enum { N = 100 };

static double sum(const double *values, int from, int to) {
  double sum = 0;
  for (int i = from; i < to; i++)
    sum += values[i];
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
  for (int i = 0; i < N; i++) window[i] = 2;
  MPI_Barrier(MPI_COMM_WORLD);

  static double out[N];
  double result = sum(window, 50, 49 + argc) + sum(window, 99, argc);
  MPI_Put(out, N, MPI_DOUBLE, peer, 0, N, MPI_DOUBLE, win);
  MPI_Win_flush_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(win);
  int right = result == 0 && window[0] == 0 && window[N - 1] == 0;
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return right ? 0 : 1;
}
