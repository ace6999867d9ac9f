// Epochs of different windows may overlap, and a window may be exposed and accessed at once.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int next = (rank + 1) % 3, previous = (rank + 2) % 3;
  MPI_Group world, targets, origins;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &next, &targets);
  MPI_Group_incl(world, 1, &previous, &origins);

  static int window[4], other[4], out = 7;
  MPI_Win win, second;
  MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_create(other, sizeof other, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &second);

  MPI_Win_post(origins, 0, win);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, second);
  MPI_Win_start(targets, 0, win);
  MPI_Put(&out, 1, MPI_INT, next, 0, 1, MPI_INT, win);
  MPI_Put(&out, 1, MPI_INT, next, 1, 1, MPI_INT, second);
  MPI_Win_unlock(next, second);
  MPI_Win_complete(win);
  MPI_Win_wait(win);

  MPI_Group_free(&origins);
  MPI_Group_free(&targets);
  MPI_Group_free(&world);
  MPI_Win_free(&second);
  MPI_Win_free(&win);
  MPI_Finalize();
  return window[0] == 7 && other[1] == 7 ? 0 : 1;
}
