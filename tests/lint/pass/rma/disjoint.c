// Elements, halves and fields of their own for each operation, rows of a matrix in a loop.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct pair {
  int first, second;
};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  static int window[48 + 8 * 16];
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  static int rows[8][16];
  int values[8] = {0};
  struct pair pair = {1, 2};
  int *halves = calloc(32, sizeof *halves);
  MPI_Win_lock_all(0, win);
  MPI_Put(&values[0], 4, MPI_INT, peer, 0, 4, MPI_INT, win);
  values[4] = 1;
  MPI_Get(&pair.first, 1, MPI_INT, peer, 8, 1, MPI_INT, win);
  pair.second = 3;
  MPI_Put(halves, 16, MPI_INT, peer, 16, 16, MPI_INT, win);
  MPI_Get(halves + 16, 16, MPI_INT, peer, 32, 16, MPI_INT, win);
  for (int i = 0; i < 8; i++) {
    for (int j = 0; j < 16; j++) {
      rows[i][j] = i;
    }
    MPI_Put(rows[i], 16, MPI_INT, peer, 48 + 16 * i, 16, MPI_INT, win);
  }
  MPI_Win_unlock_all(win);
  printf("%d %d\n", values[4], pair.first + pair.second);
  free(halves);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
