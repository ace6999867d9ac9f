// Accumulates that may come in any order, by info, are atomic still.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], one = 1, in;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "accumulate_ordering", "none");
  MPI_Info_set(info, "accumulate_ops", "same_op");
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof(int), info, MPI_COMM_WORLD, &win);
  MPI_Info_free(&info);

  MPI_Win_fence(0, win);
  for (int i = 0; i < 10; i++) MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
  MPI_Get_accumulate(&one, 1, MPI_INT, &in, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return rank > 0 || window[0] == 33 ? 0 : 1;
}
