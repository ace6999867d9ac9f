// Ranks that share memory wait for each other by a flag that is polled with MPI_Win_sync.
//# np: 2
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int right = (rank + 1) % size;

  MPI_Win win;
  int *mine, *theirs, unit;
  MPI_Aint bytes;
  MPI_Win_allocate_shared(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  MPI_Win_shared_query(win, right, &bytes, &unit, &theirs);
  int *first = rank ? theirs : mine;
  int *flag = (int *)(first + 8);
  if (rank == 0)
    *flag = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  int seen = 0;
  if (rank == 0) {
    first[0] = 9;
    MPI_Win_sync(win);
    *flag = 1;
    MPI_Win_sync(win);
  } else {
    while (!*flag)
      MPI_Win_sync(win);
    MPI_Win_sync(win);
    seen = first[0];
  }
  MPI_Win_unlock_all(win);
  printf("%d\n", seen);

  MPI_Win_free(&win);
  MPI_Finalize();
  return rank && seen != 9;
}
