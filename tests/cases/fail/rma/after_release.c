/* An owner gives a cell of its window away by an atomic flag, and goes on using it. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int rank, one = 1, flag = 0, value = 5, *window, seen;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate(64 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  for (int i = 0; i < 64; i++) window[i] = 0;
  MPI_Win_lock_all(0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    while (flag == 0) {
      MPI_Fetch_and_op(NULL, &flag, MPI_INT, 1, 0, MPI_NO_OP, win);
      MPI_Win_flush(1, win);
    }
    MPI_Put(&value, 1, MPI_INT, 1, 16, 1, MPI_INT, win); //~ CS-RMA-03 operation
    MPI_Put(&value, 1, MPI_INT, 1, 32, 1, MPI_INT, win); //~ CS-RMA-03 operation
    MPI_Win_flush(1, win);
  } else {
    MPI_Accumulate(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_flush(1, win);
    window[16] = 7;    //~ CS-RMA-03 access
    seen = window[32]; //~ CS-RMA-03 access
    printf("%d\n", seen < 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
