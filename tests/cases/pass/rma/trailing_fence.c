// A last fence without assertions begins no epoch, so that locks may follow.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int window[4], out = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_fence(0, win);
  MPI_Put(&out, 1, MPI_INT, peer, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win);
  MPI_Put(&out, 1, MPI_INT, peer, 1, 1, MPI_INT, win);
  MPI_Win_unlock(peer, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return window[0] == 7 && window[1] == 7 ? 0 : 1;
}
