// Local buffers of accumulates and atomics are used after the flush.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int window[4] = {1, 2, 3, 4}, out[4] = {1, 1, 1, 1}, in[3], expected = 4;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  MPI_Accumulate(&out[0], 1, MPI_INT, peer, 0, 1, MPI_INT, MPI_SUM, win);
  MPI_Get_accumulate(&out[1], 1, MPI_INT, &in[0], 1, MPI_INT, peer, 1, 1, MPI_INT, MPI_SUM, win);
  MPI_Fetch_and_op(&out[2], &in[1], MPI_INT, peer, 2, MPI_SUM, win);
  MPI_Compare_and_swap(&out[3], &expected, &in[2], MPI_INT, peer, 3, win);
  MPI_Win_flush(peer, win);
  out[0] = 5;
  out[1] = 5;
  out[2] = 5;
  expected = 5;
  int seen = in[0];
  seen += in[1];
  in[2] = seen;
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return seen == 5 && window[0] == 2 && window[1] == 3 && window[2] == 4 && window[3] == 1 ? 0 : 1;
}
