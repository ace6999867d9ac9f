// Local buffers in the own window, where the other rank puts and gets later (lock_all and flush).
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int window[8], in[2], out[2] = {8, 9};
  for (int i = 0; i < 8; i++) window[i] = 10 * rank + i;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  MPI_Get(&window[0], 1, MPI_INT, peer, 4, 1, MPI_INT, win);
  MPI_Get(&window[1], 1, MPI_INT, peer, 5, 1, MPI_INT, win);
  MPI_Put(&window[2], 1, MPI_INT, peer, 6, 1, MPI_INT, win);
  MPI_Put(&window[3], 1, MPI_INT, peer, 7, 1, MPI_INT, win);
  MPI_Win_flush(peer, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(win);
  MPI_Get(&in[0], 1, MPI_INT, peer, 0, 1, MPI_INT, win);
  MPI_Put(&out[0], 1, MPI_INT, peer, 1, 1, MPI_INT, win);
  MPI_Put(&out[1], 1, MPI_INT, peer, 2, 1, MPI_INT, win);
  MPI_Get(&in[1], 1, MPI_INT, peer, 3, 1, MPI_INT, win); // reads what a put reads
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return in[0] == 10 * rank + 4 && in[1] == 10 * peer + 3 && window[1] == 8 &&
         window[6] == 10 * peer + 2 ? 0 : 1;
}
