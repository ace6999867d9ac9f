// The owner of a counter looks at it directly while another rank adds to it.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static long window[2], one = 1, before;
  long seen = 0;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  if (rank == 0) MPI_Fetch_and_op(&one, &before, MPI_LONG, 1, 0, MPI_SUM, win); //~ CS-RMA-03 operation ranks=1
  if (rank == 1) seen = window[0]; //~ CS-RMA-03 access ranks=1
  MPI_Win_unlock_all(win);

  printf("%ld\n", seen);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
