// A message in one communicator is not one in its duplicate, though members and tag are the same.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, seen = 7, out = 7, token = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);

  static int window[4];
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  if (rank == 0) {
    MPI_Send(&token, 1, MPI_INT, 1, 5, other);
    MPI_Put(&out, 1, MPI_INT, 1, 1, 1, MPI_INT, win);
    MPI_Win_flush(1, win);
    MPI_Send(&token, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    seen = window[1];
    MPI_Recv(&token, 1, MPI_INT, 0, 5, other, MPI_STATUS_IGNORE);
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Comm_free(&other);
  MPI_Finalize();
  return seen == 7 ? 0 : 1;
}
