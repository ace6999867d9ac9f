// Each rank stores to bytes of its own, side by side with others' in the same word.
//# np: 4
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int right = (rank + 1) % size;

  MPI_Win win;
  char *mine, *theirs;
  int unit;
  MPI_Aint bytes;
  MPI_Win_allocate_shared(1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  MPI_Win_shared_query(win, right, &bytes, &unit, &theirs);
  mine[0] = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  int seen = theirs[0];
  MPI_Barrier(MPI_COMM_WORLD);
  printf("%d\n", seen);

  MPI_Win_free(&win);
  MPI_Finalize();
  return seen != 1;
}
