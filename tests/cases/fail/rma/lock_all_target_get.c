// Each rank changes window memory that the other one is getting (lock_all and flush).
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int window[4] = {1, 2, 3}, in[4], out = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  MPI_Get(&in[0], 1, MPI_INT, peer, 0, 1, MPI_INT, win); //~ CS-RMA-03 operation
  MPI_Get(&in[1], 1, MPI_INT, peer, 1, 1, MPI_INT, win); //~ CS-RMA-04 operation
  MPI_Get(&in[2], 1, MPI_INT, peer, 2, 1, MPI_INT, win);
  window[0] = 7; //~ CS-RMA-03 access
  MPI_Put(&out, 1, MPI_INT, peer, 1, 1, MPI_INT, win); //~ CS-RMA-04 access
  int seen = window[2]; // loads and gets may meet
  MPI_Get(&in[3], 1, MPI_INT, peer, 2, 1, MPI_INT, win);
  MPI_Win_unlock_all(win);

  printf("%d\n", seen);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
