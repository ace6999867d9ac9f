// memcpy and printf use window memory while other ranks get and put it.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static char window[64] = "nothing", out[32] = "something", in[32];
  MPI_Win win;
  MPI_Win_create(window, sizeof window, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  volatile size_t length = 32;

  MPI_Win_fence(0, win);
  MPI_Put(out, 32, MPI_CHAR, peer, 0, 32, MPI_CHAR, win); //~ CS-RMA-03 operation
  MPI_Get(in, 32, MPI_CHAR, peer, 32, 32, MPI_CHAR, win); //~ CS-RMA-03 operation
  memcpy(window + 32, "written here, and so long that it is a call", length); //~ CS-RMA-03 access
  printf("%s\n", window); //~ CS-RMA-03 access
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
