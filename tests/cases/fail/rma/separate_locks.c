// In the separate memory model, owners and others update windows under locks that do not exclude.
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

  for (int round = 0; round < 3; round++) {
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    window[9]++; //~ CS-RMA-05 access
    MPI_Win_unlock(rank, win);
    MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win);
    MPI_Accumulate(&out, 1, MPI_INT, peer, 0, 1, MPI_INT, MPI_SUM, win); //~ CS-RMA-05 operation
    MPI_Win_unlock(peer, win);
  }

  MPI_Win_free(&win);
  MPI_Finalize();
  return window[0] == 21 && window[9] == 3 ? 0 : 1;
}
