/* A rank polls a flag on another node by atomic reads, and gets what was put and completed
 * before. */
//# np: 3
//# nodes: 3
#include <mpi.h>

int main(int argc, char **argv) {
  int rank, *window, one = 1, value = 5, flag = 0, none = 0, got = 5;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  for (int i = 0; i < 16; i++) window[i] = 0;
  MPI_Win_lock_all(0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Put(&value, 1, MPI_INT, 0, 8, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_flush(0, win);
  }
  if (rank == 2) {
    while (flag == 0) {
      MPI_Fetch_and_op(&none, &flag, MPI_INT, 0, 0, MPI_NO_OP, win);
      MPI_Win_flush(0, win);
    }
    MPI_Get(&got, 1, MPI_INT, 0, 8, 1, MPI_INT, win);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return got != 5;
}
