// One rank's accumulate into another word orders nothing for those who do not read that word
// atomically.
//# np: 2
#include <mpi.h>
#include <unistd.h>

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
  MPI_Barrier(MPI_COMM_WORLD);

  if (rank == 1) {
    long one = 1;
    words[2] = 5; //~ CS-RMA-06 operation
    MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_flush(0, win);
  } else {
    usleep(100000); // by now it has happened, but that is chance
    words[2] = 6; //~ CS-RMA-06 access
  }
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
