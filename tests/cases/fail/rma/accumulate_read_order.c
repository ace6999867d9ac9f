// An atomic read of one origin after its accumulate: accumulate_ordering does not keep them in
// order, and accumulate_ops says that they do not meet.
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "accumulate_ordering", "rar,waw");
  MPI_Info_set(info, "accumulate_ops", "same_op");
  static int window[4], out = 7, seen;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], info, MPI_COMM_WORLD, &win);
  MPI_Info_free(&info);

  MPI_Win_lock_all(0, win);
  MPI_Accumulate(&out, 1, MPI_INT, peer, 0, 1, MPI_INT, MPI_SUM, win); //~ CS-RMA-04 operation
  MPI_Fetch_and_op(NULL, &seen, MPI_INT, peer, 0, MPI_NO_OP, win); //~ CS-RMA-04 access
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return seen % 7;
}
