// The owner stores a byte that the other rank is putting.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static char window[16], out[3] = "abc";
  MPI_Win win;
  MPI_Win_create(window, sizeof window, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_fence(0, win);
  MPI_Put(out, 3, MPI_CHAR, 1 - rank, 8, 3, MPI_CHAR, win); //~ CS-RMA-03 operation
  window[10] = 'c'; //~ CS-RMA-03 access
  window[7] = 'x';
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
