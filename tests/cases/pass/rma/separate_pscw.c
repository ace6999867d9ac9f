// In the separate memory model, the owner of a window stores before and after the window is
// exposed.
//# options: --memory-model separate
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[16], out = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Group world, other;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int peer = 1 - rank;
  MPI_Group_incl(world, 1, &peer, &other);
  if (rank == 0) {
    MPI_Win_start(other, 0, win);
    MPI_Accumulate(&out, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_complete(win);
  } else {
    window[9] = 1;
    MPI_Win_post(other, 0, win);
    MPI_Win_wait(win);
    window[8] = window[0];
  }
  MPI_Group_free(&other);
  MPI_Group_free(&world);

  MPI_Win_free(&win);
  MPI_Finalize();
  return window[8] == 7 * rank ? 0 : 1;
}
