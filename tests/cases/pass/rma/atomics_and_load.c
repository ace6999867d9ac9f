// The owner of a counter looks at it with MPI_Fetch_and_op, as other ranks would.
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static long window[2], one = 1, before;
  long seen = 0;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  if (rank == 0) MPI_Fetch_and_op(&one, &before, MPI_LONG, 1, 0, MPI_SUM, win);
  if (rank == 1) MPI_Fetch_and_op(NULL, &seen, MPI_LONG, 1, 0, MPI_NO_OP, win);
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return (rank == 0 && before == 0) || (rank == 1 && window[0] == 1 &&
         (seen == 0 || seen == 1)) ? 0 : 1;
}
