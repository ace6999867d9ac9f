// Each rank uses window memory after the other one has put into it (post/start/complete/wait).
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  MPI_Group world, other;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &peer, &other);

  static int window[4], out[4] = {1, 2, 3, 4}, in;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_post(other, 0, win);
  MPI_Win_start(other, 0, win);
  MPI_Put(&out[0], 1, MPI_INT, peer, 0, 1, MPI_INT, win);
  MPI_Put(&out[1], 1, MPI_INT, peer, 1, 1, MPI_INT, win);
  MPI_Put(&out[2], 1, MPI_INT, peer, 2, 1, MPI_INT, win);
  MPI_Put(&out[3], 1, MPI_INT, peer, 3, 1, MPI_INT, win);
  MPI_Win_complete(win);
  MPI_Win_wait(win);
  MPI_Win_post(other, 0, win);
  MPI_Win_start(other, 0, win);
  int seen = window[0];
  window[1] = 7;
  MPI_Put(&out[2], 1, MPI_INT, peer, 2, 1, MPI_INT, win);
  MPI_Get(&in, 1, MPI_INT, peer, 3, 1, MPI_INT, win);
  MPI_Win_complete(win);
  MPI_Win_wait(win);

  MPI_Group_free(&other);
  MPI_Group_free(&world);
  MPI_Win_free(&win);
  MPI_Finalize();
  return seen == 1 && window[1] == 7 && window[2] == 3 && in == 4 ? 0 : 1;
}
