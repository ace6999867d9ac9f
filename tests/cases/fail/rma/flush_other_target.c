// The flush completes the put to rank 2 only; the local buffer of the put to rank 1 is reused.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], out = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  if (rank == 0) {
    MPI_Put(&out, 1, MPI_INT, 1, 0, 1, MPI_INT, win); //~ CS-RMA-01 operation ranks=0
    MPI_Put(&out, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
    MPI_Win_flush_local(2, win);
    out = 8; //~ CS-RMA-01 access ranks=0
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
