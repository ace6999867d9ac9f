// The origin buffer of a put is written before the flush; the window comes from the large-count
// call.
//# mpi: mpich
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank, out[2] = {7, 7};

  static int window[4];
  MPI_Win win;
  MPI_Win_create_c(window, sizeof window, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  MPI_Put(out, 2, MPI_INT, peer, 1, 2, MPI_INT, win); //~ CS-RMA-01 operation
  out[1] = 8; //~ CS-RMA-01 access
  MPI_Win_flush(peer, win);
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
