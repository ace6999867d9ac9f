// Nested loops go through a block of a matrix, beside which somebody puts a column.
//# flags: -O2
#include <mpi.h>
#include <stdio.h>

enum { ROWS = 60, COLUMNS = 70, FROM = 7, TO = 61 };

static void scale(double *matrix) {
  for (int i = 0; i < ROWS; i++)
    for (int j = FROM; j < TO; j++)
      matrix[i * COLUMNS + j] *= 2;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  double *window;
  MPI_Win win;
  MPI_Win_allocate(ROWS * COLUMNS * sizeof *window, sizeof *window, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < ROWS * COLUMNS; i++) window[i] = 1;
  MPI_Barrier(MPI_COMM_WORLD);

  static double out[ROWS];
  MPI_Datatype column;
  MPI_Type_vector(ROWS, 1, COLUMNS, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  scale(window);
  MPI_Put(out, ROWS, MPI_DOUBLE, peer, TO, 1, column, win);
  MPI_Win_flush_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(win);
  int right = window[FROM] == 2 && window[TO - 1] == 2 && window[TO] == 0 && window[ROWS * COLUMNS - 1] == 1;
  MPI_Win_unlock_all(win);

  MPI_Type_free(&column);
  MPI_Win_free(&win);
  MPI_Finalize();
  return right ? 0 : 1;
}
