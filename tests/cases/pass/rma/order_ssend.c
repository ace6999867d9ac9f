// A synchronous send ends only when somebody is receiving, so the load came before the put.
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], out = 7;
  int seen = 0;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  if (rank == 0) {
    MPI_Ssend(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Put(&out, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
  } else {
    seen = window[0];
    MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return seen == 0 && window[0] == (rank ? 7 : 0) ? 0 : 1;
}
