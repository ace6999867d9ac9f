// Each rank has its own displacement unit; rank 1's is four bytes, so these puts do not overlap.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4];
  static const char out[4] = {7, 7, 7, 7};
  int unit = rank == 1 ? 4 : 1;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_fence(0, win);
  int place = rank == 0 ? 0 : 2;
  if (rank != 1) {
    MPI_Put(out, 4, MPI_BYTE, 1, place, 4, MPI_BYTE, win);
  }
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return rank != 1 || (window[0] == window[2] && window[0] != 0 && window[1] == 0) ? 0 : 1;
}
