// A message after the store and before the load orders them.
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
  int token = 0, seen = 0;
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  if (rank == 0) {
    mine[1] = 7;
    MPI_Win_sync(win);
    MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_sync(win);
    seen = theirs[1];
  }
  MPI_Win_unlock_all(win);
  printf("%d\n", seen);

  MPI_Win_free(&win);
  MPI_Finalize();
  return rank && seen != 7;
}
