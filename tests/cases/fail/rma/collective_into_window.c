// A sum over all ranks is written into window memory that other ranks are getting.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[8] = {7, 7, 7, 7}, in[4], one[4] = {1, 1, 1, 1};
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  int begin = 3;
  MPI_Win_fence(0, win);
  MPI_Get(in, 4, MPI_INT, (rank + 1) % 3, 0, 4, MPI_INT, win); //~ CS-RMA-03 operation
  MPI_Allreduce(one, &window[begin], 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD); //~ CS-RMA-03 access
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
