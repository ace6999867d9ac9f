// One-sided operations whose sides do not agree.
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
  MPI_Put(out, 4, MPI_DOUBLE, 1 - rank, 0, 4, MPI_FLOAT, win); //~ CS-ARG-01 operation ranks=0,1
  MPI_Get(in, 2, MPI_DOUBLE, 1 - rank, 8, 3, MPI_DOUBLE, win); //~ CS-ARG-01 operation ranks=0,1
  MPI_Get(&in[2], 2, MPI_DOUBLE, 1 - rank, 8, 1, pair, win);
  MPI_Win_fence(0, win);
  MPI_Fetch_and_op(out, in, pair, 1 - rank, 8, MPI_SUM, win); //~ CS-ARG-01 operation ranks=0,1
  MPI_Win_fence(0, win);
  MPI_Type_free(&pair);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
