// A put into a rank's part is complete before a third rank knows of it, and loads from there.
//# np: 3
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int right = (rank + 1) % size;

  MPI_Win win;
  int *mine, *last, unit, value = 6, seen = 0;
  MPI_Aint bytes;
  MPI_Win_allocate_shared(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  MPI_Win_shared_query(win, 2, &bytes, &unit, &last);
  MPI_Win_lock_all(0, win);
  if (rank == 0)
    MPI_Put(&value, 1, MPI_INT, 2, 5, 1, MPI_INT, win);
  MPI_Win_flush_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1)
    seen = last[5];
  MPI_Win_unlock_all(win);
  printf("%d %d\n", seen, right);

  MPI_Win_free(&win);
  MPI_Finalize();
  return rank == 1 && seen != 6;
}
