// Two barriers in progress on communicators with the same members, begun in different orders: each
// orders by itself.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, right = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm one, other;
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);

  static int window[4], out = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  for (int round = 0; round < 3; round++) {
    MPI_Request first, second;
    if (rank == 1) {
      MPI_Ibarrier(one, &first);
      MPI_Put(&out, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
      MPI_Win_flush(0, win);
      MPI_Ibarrier(other, &second);
      MPI_Wait(&second, MPI_STATUS_IGNORE);
    } else {
      MPI_Ibarrier(other, &second);
      MPI_Ibarrier(one, &first);
      MPI_Wait(&second, MPI_STATUS_IGNORE);
      MPI_Win_sync(win);
      right &= window[0] == 7 || rank != 0;
      window[0] = 0;
    }
    MPI_Wait(&first, MPI_STATUS_IGNORE);
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Comm_free(&other);
  MPI_Comm_free(&one);
  MPI_Finalize();
  return right ? 0 : 1;
}
