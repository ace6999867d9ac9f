// The message that is probed was sent before the put.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], out = 0;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  if (rank == 0) {
    MPI_Send(&out, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Put(&out, 1, MPI_INT, 1, 0, 1, MPI_INT, win); //~ CS-RMA-03 operation ranks=1
    MPI_Win_flush(1, win);
    MPI_Send(&out, 0, MPI_INT, 1, 1, MPI_COMM_WORLD);
  } else {
    MPI_Probe(0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%d\n", window[0]); //~ CS-RMA-03 access ranks=1
    MPI_Recv(&out, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&out, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
