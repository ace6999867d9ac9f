// One rank's accumulate into a word orders what was before it for those who read that word
// atomically.
//# np: 2
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, unit;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  long *mine, *words;
  MPI_Aint size;
  MPI_Win win;
  MPI_Win_allocate_shared(4 * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  MPI_Win_shared_query(win, 0, &size, &unit, &words);
  MPI_Win_lock_all(0, win);
  if (rank == 0) words[0] = words[2] = 0;
  MPI_Win_sync(win);
  MPI_Barrier(MPI_COMM_WORLD);

  if (rank == 1) {
    long one = 1;
    words[2] = 5;
    MPI_Win_sync(win);
    MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_flush(0, win);
  } else {
    for (long seen = 0, none = 0; !seen;) {
      MPI_Fetch_and_op(&none, &seen, MPI_LONG, 0, 0, MPI_NO_OP, win);
      MPI_Win_flush(0, win);
    }
    MPI_Win_sync(win);
    words[2] += 6;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  int right = rank == 1 || words[2] == 11;

  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return right ? 0 : 1;
}
