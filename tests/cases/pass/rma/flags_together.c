/* Flags that are read together, by one operation and by one with a request, and a counter that
 * whoever comes last sets back. */
//# np: 3
#include <mpi.h>
#include <stdio.h>

enum { FLAGS = 0, DATA = 8, WRITTEN = 16, COUNTER = 24 };

int main(int argc, char **argv) {
  int rank, *window, wrong = 0;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate(64 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  for (int i = 0; i < 64; i++) window[i] = 0;
  MPI_Win_lock_all(0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    int flags[4] = {0}, none[4] = {0};
    while (flags[1] == 0 || flags[2] == 0) {
      MPI_Get_accumulate(none, 4, MPI_INT, flags, 4, MPI_INT, 0, FLAGS, 4, MPI_INT, MPI_NO_OP, win);
      MPI_Win_flush(0, win);
    }
    wrong += window[DATA + 1] != 1 || window[DATA + 2] != 2;
    /* One of many that are written together. */
    int flag = 0;
    while (flag == 0) {
      MPI_Fetch_and_op(NULL, &flag, MPI_INT, 0, WRITTEN + 3, MPI_NO_OP, win);
      MPI_Win_flush(0, win);
    }
    wrong += window[DATA + 3] != 3;
  } else {
    int one = 1, value = rank, four[4] = {1, 1, 1, 1}, before;
    MPI_Put(&value, 1, MPI_INT, 0, DATA + rank, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
    MPI_Accumulate(&one, 1, MPI_INT, 0, FLAGS + rank, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_flush(0, win);
    if (rank == 1) {
      value = 3;
      MPI_Put(&value, 1, MPI_INT, 0, DATA + 3, 1, MPI_INT, win);
      MPI_Win_flush(0, win);
      MPI_Accumulate(four, 4, MPI_INT, 0, WRITTEN, 4, MPI_INT, MPI_REPLACE, win);
      MPI_Win_flush(0, win);
    }
    MPI_Fetch_and_op(&one, &before, MPI_INT, 0, COUNTER, MPI_SUM, win);
    MPI_Win_flush(0, win);
    if (before == 1) {
      int zero = 0;
      MPI_Fetch_and_op(&zero, &before, MPI_INT, 0, COUNTER, MPI_REPLACE, win);
      MPI_Win_flush(0, win);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Win_sync(win);
    wrong += window[COUNTER] != 0;
    printf("%d\n", wrong);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return wrong != 0;
}
