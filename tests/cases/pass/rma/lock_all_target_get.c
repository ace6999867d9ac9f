// Each rank changes window memory after the other one has got it (lock_all and flush).
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int window[4] = {1, 2, 3}, in[4], out = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  MPI_Get(&in[0], 1, MPI_INT, peer, 0, 1, MPI_INT, win);
  MPI_Get(&in[1], 1, MPI_INT, peer, 1, 1, MPI_INT, win);
  MPI_Get(&in[2], 1, MPI_INT, peer, 2, 1, MPI_INT, win);
  MPI_Win_flush(peer, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(win);
  window[0] = 7;
  MPI_Put(&out, 1, MPI_INT, peer, 1, 1, MPI_INT, win);
  int seen = window[2]; // loads and gets may meet
  MPI_Get(&in[3], 1, MPI_INT, peer, 2, 1, MPI_INT, win);
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return seen == 3 && in[0] == 1 && in[1] == 2 && in[2] == 3 && in[3] == 3 &&
         window[1] == 7 ? 0 : 1;
}
