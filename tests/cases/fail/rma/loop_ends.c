// A loop goes through the middle of a window; somebody puts into the first element of that.
//# flags: -O3
#include <mpi.h>
#include <stdio.h>

enum { N = 3000, FROM = 3, TO = 2997 };

static int sum(const int *values) {
  int sum = 0;
  for (int i = FROM; i < TO; i++)
    sum += values[i]; //~ CS-RMA-03 access
  return sum;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int *window;
  MPI_Win win;
  MPI_Win_allocate(N * sizeof *window, sizeof *window, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < N; i++) window[i] = 1;
  MPI_Barrier(MPI_COMM_WORLD);

  int result = sum(window), out[2] = {7, 8};
  MPI_Put(out, 1, MPI_INT, peer, FROM, 1, MPI_INT, win); //~ CS-RMA-03 operation
  MPI_Win_flush_all(win);
  MPI_Win_unlock_all(win);

  printf("%g\n", (double)result);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
