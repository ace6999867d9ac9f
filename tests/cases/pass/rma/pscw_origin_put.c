// Local buffers of puts are changed after the puts are complete (post/start/complete/wait).
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  MPI_Group world, other;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &peer, &other);

  static int window[5] = {0, 0, 0, 0, 9}, out[4] = {1, 2, 3, 4};
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_post(other, 0, win);
  MPI_Win_start(other, 0, win);
  MPI_Put(&out[0], 1, MPI_INT, peer, 0, 1, MPI_INT, win);
  MPI_Put(&out[1], 1, MPI_INT, peer, 1, 1, MPI_INT, win);
  MPI_Put(&out[2], 1, MPI_INT, peer, 2, 1, MPI_INT, win);
  MPI_Win_complete(win);
  MPI_Win_wait(win);
  MPI_Win_post(other, 0, win);
  MPI_Win_start(other, 0, win);
  out[0] = 7;
  MPI_Get(&out[1], 1, MPI_INT, peer, 4, 1, MPI_INT, win);
  int seen = out[2]; // reading is allowed
  MPI_Put(&out[2], 1, MPI_INT, peer, 3, 1, MPI_INT, win);
  MPI_Win_complete(win);
  MPI_Win_wait(win);

  MPI_Group_free(&other);
  MPI_Group_free(&world);
  MPI_Win_free(&win);
  MPI_Finalize();
  return seen == 3 && out[0] == 7 && out[1] == 9 && window[0] == 1 && window[1] == 2 &&
         window[3] == 3 ? 0 : 1;
}
