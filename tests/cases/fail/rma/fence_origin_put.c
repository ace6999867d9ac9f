// Local buffers of puts are changed before the puts are complete (fences).
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int window[5] = {0, 0, 0, 0, 9}, out[4] = {1, 2, 3, 4};
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_fence(0, win);
  MPI_Put(&out[0], 1, MPI_INT, peer, 0, 1, MPI_INT, win); //~ CS-RMA-01 operation
  MPI_Put(&out[1], 1, MPI_INT, peer, 1, 1, MPI_INT, win); //~ CS-BUF-04 operation
  MPI_Put(&out[2], 1, MPI_INT, peer, 2, 1, MPI_INT, win);
  out[0] = 7; //~ CS-RMA-01 access
  MPI_Get(&out[1], 1, MPI_INT, peer, 4, 1, MPI_INT, win); //~ CS-BUF-04 access
  int seen = out[2]; // reading is allowed
  MPI_Put(&out[2], 1, MPI_INT, peer, 3, 1, MPI_INT, win);
  MPI_Win_fence(0, win);

  printf("%d\n", seen);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
