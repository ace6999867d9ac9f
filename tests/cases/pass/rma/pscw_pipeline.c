// Each rank stores, exposes, and gets what the rank before it stored and got.
//# np: 4
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int previous = rank - 1, next = rank + 1;
  MPI_Group world, from, to;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, rank > 0, &previous, &from);
  MPI_Group_incl(world, rank < 3, &next, &to);

  static int window[4];
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  for (int round = 0; round < 5; round++) {
    int sum = 0;
    if (rank > 0) {
      MPI_Win_start(from, 0, win);
      MPI_Get(&sum, 1, MPI_INT, previous, 0, 1, MPI_INT, win);
      MPI_Win_complete(win);
    }
    window[0] = sum + rank + round;
    if (rank < 3) {
      MPI_Win_post(to, 0, win);
      MPI_Win_wait(win);
    }
  }

  MPI_Group_free(&to);
  MPI_Group_free(&from);
  MPI_Group_free(&world);
  MPI_Win_free(&win);
  MPI_Finalize();
  return window[0] == rank * (rank + 1) / 2 + 4 * (rank + 1) ? 0 : 1;
}
