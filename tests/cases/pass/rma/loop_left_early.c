// A loop searches a window from its beginning; somebody puts behind what it finds.
//# flags: -O2
#include <mpi.h>
#include <stdio.h>

enum { N = 500, KEY = 123 };

static int find(const int *values) {
  for (int i = 0; i < N; i++)
    if (values[i] == KEY)
      return i;
  return N;
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
  for (int i = 0; i < N; i++) window[i] = i;
  MPI_Barrier(MPI_COMM_WORLD);

  int result = find(window), out = 1000;
  MPI_Put(&out, 1, MPI_INT, peer, KEY + 1, 1, MPI_INT, win);
  MPI_Win_flush_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(win);
  int right = result == KEY && window[KEY + 1] == 1000;
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return right ? 0 : 1;
}
