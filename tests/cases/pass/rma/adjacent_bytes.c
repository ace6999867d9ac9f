// Ranks 0 and 2 put to bytes side by side.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static char window[16], out[3] = "abc";
  MPI_Win win;
  MPI_Win_create(window, sizeof window, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_fence(0, win);
  int begin = rank == 0 ? 0 : 3;
  if (rank != 1) {
    MPI_Put(out, 3, MPI_CHAR, 1, begin, 3, MPI_CHAR, win);
  }
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return rank != 1 || (window[2] == 'c' && window[3] == 'a' && window[6] == 0) ? 0 : 1;
}
