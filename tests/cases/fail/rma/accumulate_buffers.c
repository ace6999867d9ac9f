// Local buffers of accumulates and atomics are used before the flush.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int window[4] = {1, 2, 3, 4}, out[4] = {1, 1, 1, 1}, in[3], expected = 4;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  MPI_Accumulate(&out[0], 1, MPI_INT, peer, 0, 1, MPI_INT, MPI_SUM, win); //~ CS-RMA-01 operation
  MPI_Get_accumulate(&out[1], 1, MPI_INT, &in[0], 1, MPI_INT, peer, 1, 1, MPI_INT, MPI_SUM, win); //~ CS-RMA-01 operation //~ CS-RMA-02 operation
  MPI_Fetch_and_op(&out[2], &in[1], MPI_INT, peer, 2, MPI_SUM, win); //~ CS-RMA-01 operation //~ CS-RMA-02 operation
  MPI_Compare_and_swap(&out[3], &expected, &in[2], MPI_INT, peer, 3, win); //~ CS-RMA-01 operation //~ CS-RMA-02 operation
  out[0] = 5; //~ CS-RMA-01 access
  out[1] = 5; //~ CS-RMA-01 access
  out[2] = 5; //~ CS-RMA-01 access
  expected = 5; //~ CS-RMA-01 access
  int seen = in[0]; //~ CS-RMA-02 access
  seen += in[1]; //~ CS-RMA-02 access
  in[2] = seen; //~ CS-RMA-02 access
  MPI_Win_unlock_all(win);

  printf("%d\n", seen);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
