/* A flag that is polled by an atomic read with a request. */
//# mpi: openmpi
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int rank, *window, one = 1, value = 5, flag = 0, none = 0, wrong = 0;
  MPI_Win win;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate(64 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  for (int i = 0; i < 64; i++) window[i] = 0;
  MPI_Win_lock_all(0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Put(&value, 1, MPI_INT, 0, 8, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_flush(0, win);
  } else {
    while (flag == 0) {
      MPI_Rget_accumulate(&none, 1, MPI_INT, &flag, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, win, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    wrong = window[8] != 5;
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&win);
  MPI_Finalize();
  printf("%d\n", wrong);
  return wrong;
}
