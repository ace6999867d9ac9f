// A put reads a variable of a function that has returned.
#include <mpi.h>

__attribute__((noinline)) static void publish(int value, int target, MPI_Win win) {
  int copy = 2 * value;
  MPI_Put(&copy, 1, MPI_INT, target, 0, 1, MPI_INT, win); //~ CS-BUF-06 operation
} //~ CS-BUF-06 return func=publish

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4];
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  publish(rank + 1, 1 - rank, win);
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
