// An atomic read meets an accumulate, which accumulate_ops allows by default.
//# np: 3
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "accumulate_ops", "same_op_no_op");
  static int window[4], out = 7, seen;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], info, MPI_COMM_WORLD, &win);
  MPI_Info_free(&info);

  MPI_Win_lock_all(0, win);
  if (rank == 0) {
    MPI_Accumulate(&out, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2) {
    MPI_Fetch_and_op(NULL, &seen, MPI_INT, 1, 0, MPI_NO_OP, win);
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return seen % 7;
}
