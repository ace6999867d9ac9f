// Of two receives, of any source and of one, the second completes first: it got the second message.
#include <mpi.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, seen = 7, out = 7, token[3] = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int window[4];
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  if (rank == 0) {
    MPI_Send(&token, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    MPI_Put(&out, 1, MPI_INT, 1, 1, 1, MPI_INT, win);
    MPI_Win_flush(1, win);
    MPI_Send(&token, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
  } else {
    MPI_Request first, second;
    MPI_Irecv(&token[0], 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &first);
    MPI_Irecv(&token[1], 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &second);
    MPI_Wait(&second, MPI_STATUS_IGNORE);
    seen = window[1];
    MPI_Wait(&first, MPI_STATUS_IGNORE);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return seen == 7 ? 0 : 1;
}
