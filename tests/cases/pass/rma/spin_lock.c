// A lock of the program's own making, from MPI_Compare_and_swap: it orders puts and gets.
//# np: 3
#include <mpi.h>

enum { LOCK, COUNTER, ROUNDS = 5 };

static const int is_free = 0, taken = 1;

static void acquire(MPI_Win win) {
  int before;
  do {
    MPI_Compare_and_swap(&taken, &is_free, &before, MPI_INT, 0, LOCK, win);
    MPI_Win_flush(0, win);
  } while (before != is_free);
}

static void release(MPI_Win win) {
  int before;
  MPI_Win_flush(0, win);
  MPI_Compare_and_swap(&is_free, &taken, &before, MPI_INT, 0, LOCK, win);
  MPI_Win_flush(0, win);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4];
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  for (int round = 0; round < ROUNDS; round++) {
    int value;
    acquire(win);
    MPI_Get(&value, 1, MPI_INT, 0, COUNTER, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
    value++;
    MPI_Put(&value, 1, MPI_INT, 0, COUNTER, 1, MPI_INT, win);
    release(win);
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return rank > 0 || window[COUNTER] == 3 * ROUNDS ? 0 : 1;
}
