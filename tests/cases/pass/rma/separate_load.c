// In the separate memory model, owners load what others have put.
//# options: --memory-model separate
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int window[16], out = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  MPI_Put(&out, 1, MPI_INT, peer, 3, 1, MPI_INT, win);
  MPI_Win_flush(peer, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(win);
  int seen = window[3];
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return seen == 7 ? 0 : 1;
}
