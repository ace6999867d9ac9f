// A column of the target's grid begins one row too low and ends beyond the window.
#include <mpi.h>

enum { ROWS = 4, COLUMNS = 4 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int memory[2 * ROWS * COLUMNS], in[ROWS];
  for (int i = 0; i < ROWS * COLUMNS; i++) memory[i] = i;
  MPI_Win win;
  MPI_Win_create(memory, sizeof memory / 2, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);

  MPI_Datatype column;
  MPI_Type_vector(ROWS, 1, COLUMNS, MPI_INT, &column);
  MPI_Type_commit(&column);
  int row = 1;
  MPI_Win_fence(0, win);
  MPI_Get(in, ROWS, MPI_INT, peer, row * COLUMNS + 2, 1, column, win); //~ CS-WIN-02 access
  MPI_Win_fence(0, win);

  MPI_Type_free(&column);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
