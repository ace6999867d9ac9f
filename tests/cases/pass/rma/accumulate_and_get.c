// A counter is read with MPI_NO_OP, so atomically, while others add to it.
//# np: 3
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4] = {7}, out = 1, in = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  if (rank == 0) MPI_Accumulate(&out, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2) MPI_Get_accumulate(NULL, 0, MPI_INT, &in, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_NO_OP, win);
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return (rank != 1 || window[0] == 8) && (in == 7 || in == 8) ? 0 : 1;
}
