// Between the blocks of a strided local buffer all is free.
#include <mpi.h>

enum { BLOCKS = 4, STEP = 3 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[BLOCKS], grid[BLOCKS * STEP];
  for (int i = 0; i < BLOCKS; i++) grid[i * STEP] = i;
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Datatype column;
  MPI_Type_vector(BLOCKS, 1, STEP, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_Win_fence(0, win);
  MPI_Put(grid, 1, column, 1 - rank, 0, BLOCKS, MPI_INT, win);
  for (int i = 0; i < BLOCKS; i++) grid[i * STEP + 1] = 7;
  grid[(BLOCKS - 1) * STEP + 2] = 3;
  MPI_Win_fence(0, win);

  MPI_Type_free(&column);
  MPI_Win_free(&win);
  MPI_Finalize();
  return window[1] == 1 && window[3] == 3 ? 0 : 1;
}
