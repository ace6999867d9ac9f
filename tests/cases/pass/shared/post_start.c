// MPI_Win_post after the store, MPI_Win_start before the load.
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
  MPI_Group all, other;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &right, &other);
  int seen = 0;
  if (rank == 0) {
    mine[6] = 3;
    MPI_Win_post(other, 0, win);
    MPI_Win_wait(win);
  } else {
    MPI_Win_start(other, 0, win);
    seen = theirs[6];
    MPI_Win_complete(win);
  }
  printf("%d\n", seen);
  MPI_Group_free(&other);
  MPI_Group_free(&all);

  MPI_Win_free(&win);
  MPI_Finalize();
  return rank && seen != 3;
}
