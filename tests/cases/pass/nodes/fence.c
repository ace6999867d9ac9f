/* Ranks of two nodes write to elements of their own between two fences, and the owner loads after
 * the next. */
//# np: 4
//# nodes: 2
#include <mpi.h>

int main(int argc, char **argv) {
  int rank, *window, mine, sum = 0;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  for (int i = 0; i < 16; i++) window[i] = 0;
  mine = 100 + rank;
  MPI_Win_fence(0, win);
  if (rank != 0) MPI_Put(&mine, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  if (rank == 1) MPI_Put(&mine, 1, MPI_INT, 2, 8, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  if (rank == 2) sum += window[8];
  MPI_Win_free(&win);
  MPI_Finalize();
  return rank == 2 && sum != 101;
}
