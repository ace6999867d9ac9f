// Each rank has its own displacement unit; rank 1's is a byte, so these puts overlap.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4];
  static const char out[4] = {7, 7, 7, 7};
  int unit = rank == 1 ? 1 : 4;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_fence(0, win);
  int place = rank == 0 ? 0 : 2;
  if (rank != 1) {
    MPI_Put(out, 4, MPI_BYTE, 1, place, 4, MPI_BYTE, win); //~ CS-RMA-04 access ranks=1 //~ CS-RMA-04 operation ranks=1
  }
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
