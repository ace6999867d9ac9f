// The owner stores the byte after those that the other rank is putting, in the same word.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static char window[16], out[3] = "abc";
  MPI_Win win;
  MPI_Win_create(window, sizeof window, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_fence(0, win);
  MPI_Put(out, 3, MPI_CHAR, 1 - rank, 8, 3, MPI_CHAR, win);
  window[11] = 'd';
  window[7] = 'x';
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return window[7] == 'x' && window[8] == 'a' && window[10] == 'c' && window[11] == 'd' ? 0 : 1;
}
