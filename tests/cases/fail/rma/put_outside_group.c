// MPI_Win_start names rank 1, but the put goes to rank 2.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int targets = 1;
  MPI_Group world, origin, target;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, (int[]){0}, &origin);
  MPI_Group_incl(world, targets, (int[]){1, 2}, &target);

  static int window[4], out = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);

  if (rank == 0) {
    MPI_Win_start(target, 0, win);
    MPI_Put(&out, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    MPI_Put(&out, 1, MPI_INT, 2, 0, 1, MPI_INT, win); //~ CS-WIN-01 access ranks=0
    MPI_Win_complete(win);
  } else if (rank <= targets) {
    MPI_Win_post(origin, 0, win);
    MPI_Win_wait(win);
  }

  MPI_Group_free(&target);
  MPI_Group_free(&origin);
  MPI_Group_free(&world);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
