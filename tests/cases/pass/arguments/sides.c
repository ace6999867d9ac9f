// One-sided operations whose sides agree, in whatever words.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static double field[16];
  static double out[4], in[4];
  MPI_Win win;
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
  MPI_Type_commit(&pair);
  MPI_Win_create(field, sizeof field, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_fence(0, win);
  MPI_Put(out, 4, MPI_DOUBLE, 1 - rank, 0, 2, pair, win);
  MPI_Get(in, 2, MPI_DOUBLE, 1 - rank, 8, 2, MPI_DOUBLE, win);
  MPI_Get(&in[2], 2, MPI_DOUBLE, 1 - rank, 8, 1, pair, win);
  MPI_Win_fence(0, win);
  // Less is sent than there is room for: the rest stays as it is, for its owner, too.
  MPI_Put(out, 2, MPI_DOUBLE, 1 - rank, 0, 2, pair, win);
  MPI_Get(in, 4, MPI_DOUBLE, 1 - rank, 8, 1, pair, win);
  field[2] = rank;
  MPI_Win_fence(0, win);
  MPI_Accumulate(out, 4, MPI_DOUBLE, 1 - rank, 0, 2, pair, MPI_REPLACE, win);
  MPI_Fetch_and_op(out, in, MPI_DOUBLE, 1 - rank, 8, MPI_SUM, win);
  MPI_Win_fence(0, win);
  MPI_Type_free(&pair);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
