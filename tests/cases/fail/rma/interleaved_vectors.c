// Ranks 0 and 2 put neighbouring columns, but rank 2 has a stride that is one too short.
//# np: 3
#include <mpi.h>

enum { ROWS = 5, COLUMNS = 4 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[ROWS * COLUMNS], out[ROWS] = {1, 2, 3, 4, 5};
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Datatype column;
  int stride = rank == 2 ? COLUMNS - 1 : COLUMNS;
  MPI_Type_vector(ROWS, 1, stride, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_Win_fence(0, win);
  if (rank != 1) {
    MPI_Put(out, ROWS, MPI_INT, 1, rank / 2, 1, column, win); //~ CS-RMA-04 access ranks=1 //~ CS-RMA-04 operation ranks=1
  }
  MPI_Win_fence(0, win);

  MPI_Type_free(&column);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
