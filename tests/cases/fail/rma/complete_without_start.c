// The access epoch is completed twice.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  MPI_Group world, other;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &peer, &other);

  static int window[4], out = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);

  MPI_Win_post(other, 0, win);
  MPI_Win_start(other, 0, win);
  MPI_Put(&out, 1, MPI_INT, peer, 0, 1, MPI_INT, win);
  MPI_Win_complete(win);
  MPI_Win_complete(win); //~ CS-WIN-03 access
  MPI_Win_wait(win);

  MPI_Group_free(&other);
  MPI_Group_free(&world);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
