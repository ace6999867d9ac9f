// Local buffers of request-based accumulates are used before their requests are complete.
#include <mpi.h>
#include <stdio.h>

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
  MPI_Raccumulate(&out[0], 1, MPI_INT, peer, 0, 1, MPI_INT, MPI_SUM, win, &requests[0]); //~ CS-RMA-01 operation
  MPI_Rget_accumulate(&out[1], 1, MPI_INT, &in, 1, MPI_INT, peer, 1, 1, MPI_INT, MPI_SUM, win, &requests[1]); //~ CS-RMA-01 operation //~ CS-RMA-02 operation
  MPI_Rput(&out[2], 1, MPI_INT, peer, 2, 1, MPI_INT, win, &requests[2]); //~ CS-RMA-01 operation
  out[0] = 5; //~ CS-RMA-01 access
  out[1] = 5; //~ CS-RMA-01 access
  out[2] = 5; //~ CS-RMA-01 access
  int seen = in; //~ CS-RMA-02 access
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  MPI_Win_unlock_all(win);

  printf("%d\n", seen);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
