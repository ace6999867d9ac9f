// Ranks of a node store into each other's part of a shared window, ordered by MPI_Win_sync and a
// barrier.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int ranks, unit, *memory, *next;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  MPI_Win win;
  MPI_Aint bytes;
  MPI_Win_allocate_shared(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_shared_query(win, (rank + 1) % ranks, &bytes, &unit, &next);

  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  for (int i = 0; i < 8; i++) next[i] = rank;
  MPI_Win_sync(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(win);
  int seen = memory[7];
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return seen == (rank + ranks - 1) % ranks ? 0 : 1;
}
