// Shared locks keep nobody away from the counter.
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
  int *counter = rank ? theirs : mine;
  if (rank == 0)
    counter[2] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 10; i++) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    counter[2] += rank + 1; //~ CS-RMA-06 access //~ CS-RMA-06 operation
    MPI_Win_unlock(0, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  int sum = counter[2];
  MPI_Barrier(MPI_COMM_WORLD);
  printf("%d\n", sum);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
