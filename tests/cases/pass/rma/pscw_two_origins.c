// Ranks 0 and 2 use the same memory of rank 1 one after the other (post/start/complete/wait).
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int target = 1, origins[2] = {0, 2};
  MPI_Group world, one, both;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &target, &one);
  MPI_Group_incl(world, 2, origins, &both);

  static int window[4], in, same, out = 7;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  if (rank == 1) {
    for (int i = 0; i < 2; i++) {
      MPI_Group origin;
      MPI_Group_incl(both, 1, &i, &origin);
      MPI_Win_post(origin, 0, win);
      MPI_Win_wait(win);
      MPI_Group_free(&origin);
    }
  } else {
    MPI_Win_start(one, 0, win);
    MPI_Put(&out, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    rank == 0 ? MPI_Put(&out, 1, MPI_INT, 1, 1, 1, MPI_INT, win) : MPI_Get(&in, 1, MPI_INT, 1, 1, 1, MPI_INT, win);
    MPI_Get(&same, 1, MPI_INT, 1, 2, 1, MPI_INT, win);
    MPI_Win_complete(win);
  }

  MPI_Group_free(&both);
  MPI_Group_free(&one);
  MPI_Group_free(&world);
  MPI_Win_free(&win);
  MPI_Finalize();
  return rank != 1 || (window[0] == 7 && window[1] == 7 && window[2] == 0) ? 0 : 1;
}
