// Neighbours' memory may change while it is read, page after page: the second barrier is missing.
//# np: 3
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int right = (rank + 1) % size;

  enum { N = 100000 };
  MPI_Win win;
  double *mine, *theirs;
  int unit;
  MPI_Aint bytes;
  MPI_Win_allocate_shared(N * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  MPI_Win_shared_query(win, right, &bytes, &unit, &theirs);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  double sum = 0;
  for (int step = 0; step < 4; step++) {
    for (int i = 0; i < N; i++)
      mine[i] = step + i; //~ CS-RMA-06 operation
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    for (int i = 0; i < N; i++)
      sum += theirs[i]; //~ CS-RMA-06 access
  }
  MPI_Win_unlock_all(win);
  printf("%g\n", sum);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
