// Results of gets are used before the gets are complete (post/start/complete/wait).
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  MPI_Group world, other;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &peer, &other);

  static int window[5] = {1, 2, 3, 4}, result[4];
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_post(other, 0, win);
  MPI_Win_start(other, 0, win);
  MPI_Get(&result[0], 1, MPI_INT, peer, 0, 1, MPI_INT, win); //~ CS-RMA-02 operation
  MPI_Get(&result[1], 1, MPI_INT, peer, 1, 1, MPI_INT, win); //~ CS-RMA-02 operation
  MPI_Get(&result[2], 1, MPI_INT, peer, 2, 1, MPI_INT, win); //~ CS-BUF-04 operation
  MPI_Get(&result[3], 1, MPI_INT, peer, 3, 1, MPI_INT, win); //~ CS-BUF-04 operation
  int seen = result[0]; //~ CS-RMA-02 access
  result[1] = 7; //~ CS-RMA-02 access
  MPI_Get(&result[2], 1, MPI_INT, peer, 2, 1, MPI_INT, win); //~ CS-BUF-04 access
  MPI_Put(&result[3], 1, MPI_INT, peer, 4, 1, MPI_INT, win); //~ CS-BUF-04 access
  MPI_Win_complete(win);
  MPI_Win_wait(win);

  MPI_Group_free(&other);
  MPI_Group_free(&world);
  printf("%d\n", seen);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
