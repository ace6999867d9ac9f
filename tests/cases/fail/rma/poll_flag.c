// Data and then a flag, which the other rank polls; nothing makes the data arrive first.
#include <mpi.h>
#include <stdio.h>

enum { FLAG, DATA };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], data = 7, one = 1;
  int seen = 7, flag = 0;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  if (rank == 0) {
    MPI_Put(&data, 1, MPI_INT, 1, DATA, 1, MPI_INT, win); //~ CS-RMA-03 operation ranks=1
    MPI_Accumulate(&one, 1, MPI_INT, 1, FLAG, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_flush(1, win);
  } else {
    while (!flag) {
      MPI_Fetch_and_op(NULL, &flag, MPI_INT, 1, FLAG, MPI_NO_OP, win);
      MPI_Win_flush(1, win);
    }
    MPI_Win_sync(win);
    seen = window[DATA]; //~ CS-RMA-03 access ranks=1
  }
  MPI_Win_unlock_all(win);

  printf("%d\n", seen);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
