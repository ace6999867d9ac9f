// Each rank uses window memory into which the other one is putting (fences).
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int window[4], out[4] = {1, 2, 3, 4}, in;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_fence(0, win);
  MPI_Put(&out[0], 1, MPI_INT, peer, 0, 1, MPI_INT, win); //~ CS-RMA-03 operation
  MPI_Put(&out[1], 1, MPI_INT, peer, 1, 1, MPI_INT, win); //~ CS-RMA-03 operation
  MPI_Put(&out[2], 1, MPI_INT, peer, 2, 1, MPI_INT, win); //~ CS-RMA-04 operation
  MPI_Put(&out[3], 1, MPI_INT, peer, 3, 1, MPI_INT, win); //~ CS-RMA-04 operation
  int seen = window[0]; //~ CS-RMA-03 access
  window[1] = 7; //~ CS-RMA-03 access
  MPI_Put(&out[2], 1, MPI_INT, peer, 2, 1, MPI_INT, win); //~ CS-RMA-04 access
  MPI_Get(&in, 1, MPI_INT, peer, 3, 1, MPI_INT, win); //~ CS-RMA-04 access
  MPI_Win_fence(0, win);

  printf("%d\n", seen);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
