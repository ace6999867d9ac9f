// Shared locks do not keep two read-modify-write sequences apart.
//# np: 3
#include <mpi.h>

enum { ROUNDS = 10 };

// A get and a put on one line, since either may come first at the target.
static void touch(int put, int *value, MPI_Win win) {
  put ? MPI_Put(value, 1, MPI_INT, 0, 0, 1, MPI_INT, win) : MPI_Get(value, 1, MPI_INT, 0, 0, 1, MPI_INT, win); //~ CS-RMA-04 access ranks=0 //~ CS-RMA-04 operation ranks=0
  MPI_Win_flush(0, win);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4];
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  for (int round = 0; rank > 0 && round < ROUNDS; round++) {
    int value;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    touch(0, &value, win);
    value++;
    touch(1, &value, win);
    MPI_Win_unlock(0, win);
  }

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
