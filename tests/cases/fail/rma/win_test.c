// MPI_Win_test says that the exposure is not over, but the memory is read.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank, seen = 7, done = 0;
  MPI_Group world, other;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &peer, &other);

  static int window[4], out = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  if (rank == 0) {
    MPI_Win_start(other, 0, win);
    MPI_Put(&out, 1, MPI_INT, 1, 0, 1, MPI_INT, win); //~ CS-RMA-03 operation ranks=1
    MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_complete(win);
  } else {
    MPI_Win_post(other, 0, win);
    MPI_Win_test(win, &done);
    MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
    seen = window[0]; //~ CS-RMA-03 access ranks=1
    MPI_Win_wait(win);
  }

  MPI_Group_free(&other);
  MPI_Group_free(&world);
  printf("%d %d\n", seen, done);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
