// A counter is read with MPI_Get while others add to it.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4] = {7}, out = 1, in = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  if (rank == 0) MPI_Accumulate(&out, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win); //~ CS-RMA-04 operation ranks=1
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2) MPI_Get(&in, 1, MPI_INT, 1, 0, 1, MPI_INT, win); //~ CS-RMA-04 access ranks=1
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
