// Stores are ordered with gets of others by MPI_Win_sync and a barrier, gets with stores by a flush
// and a barrier.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank, in, right = 1;

  static int window[4];
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  for (int round = 0; round < 10; round++) {
    window[0] = round + rank;
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Get(&in, 1, MPI_INT, peer, 0, 1, MPI_INT, win);
    MPI_Win_flush(peer, win);
    right &= in == round + peer;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return right ? 0 : 1;
}
