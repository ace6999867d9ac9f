// Local buffers of request-based accumulates are used when their requests are complete.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int window[4] = {1, 2, 3, 4}, out[4] = {1, 1, 1, 1}, in;
  MPI_Request requests[3];
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  MPI_Raccumulate(&out[0], 1, MPI_INT, peer, 0, 1, MPI_INT, MPI_SUM, win, &requests[0]);
  MPI_Rget_accumulate(&out[1], 1, MPI_INT, &in, 1, MPI_INT, peer, 1, 1, MPI_INT, MPI_SUM, win, &requests[1]);
  MPI_Rput(&out[2], 1, MPI_INT, peer, 2, 1, MPI_INT, win, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  out[0] = 5;
  out[1] = 5;
  out[2] = 5;
  int seen = in;
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return seen == 2 && window[0] == 2 && window[1] == 3 && window[2] == 1 ? 0 : 1;
}
