// memcpy and printf use window memory before and after other ranks get and put it.
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

  memcpy(window + 32, "written here", 13);
  MPI_Win_fence(0, win);
  MPI_Put(out, 32, MPI_CHAR, peer, 0, 32, MPI_CHAR, win);
  MPI_Get(in, 32, MPI_CHAR, peer, 32, 32, MPI_CHAR, win);
  MPI_Win_fence(0, win);
  memcpy(window + 32, "written here, and so long that it is a call", length);
  printf("%s\n", window);

  MPI_Win_free(&win);
  MPI_Finalize();
  return strcmp(in, "written here") == 0 && strcmp(window, "something") == 0 ? 0 : 1;
}
