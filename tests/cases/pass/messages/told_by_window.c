// The order of two receives depends on a window, in which the sender says that the first message
// has been buffered.
#include <mpi.h>
#include <unistd.h>

enum { FIRST, SECOND };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  static int told;
  int rank, first = 0, second = 0, one = 1, is_sent = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win win;
  MPI_Win_create(&told, sizeof told, sizeof told, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  if (rank == 1) {
    first = 1, second = 2;
    MPI_Send(&first, 1, MPI_INT, 0, FIRST, MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_unlock(0, win);
    MPI_Send(&second, 1, MPI_INT, 0, SECOND, MPI_COMM_WORLD);
  } else {
    for (int i = 0; i < 1000 && !is_sent; i++) {
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
      MPI_Fetch_and_op(NULL, &is_sent, MPI_INT, 0, 0, MPI_NO_OP, win);
      MPI_Win_unlock(0, win);
      usleep(100);
    }
    if (is_sent) {
      MPI_Recv(&second, 1, MPI_INT, 1, SECOND, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Recv(&first, 1, MPI_INT, 1, FIRST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(&first, 1, MPI_INT, 1, FIRST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Recv(&second, 1, MPI_INT, 1, SECOND, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  MPI_Win_free(&win);
  MPI_Finalize();
  return first == 1 && second == 2 ? 0 : 1;
}
