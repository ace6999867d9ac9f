// The last of two ranks to arrive loads what the other has stored before it arrived.
//# np: 2
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  MPI_Win win;
  int *first, unit;
  MPI_Aint bytes;
  MPI_Win_allocate_shared(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &first, &win);
  MPI_Win_shared_query(win, 0, &bytes, &unit, &first);
  _Atomic int *left = (_Atomic int *)(first + 8);
  if (rank == 0)
    atomic_init(left, 2);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  int seen = 9;
  if (rank == 0) {
    first[0] = 9;
    if (atomic_fetch_sub(left, 1) == 1)
      printf("last\n");
  } else {
    while (atomic_load_explicit(left, memory_order_relaxed) == 2) {}
    if (atomic_fetch_sub(left, 1) == 1)
      seen = first[0];
  }
  MPI_Win_unlock_all(win);
  printf("%d\n", seen);

  MPI_Win_free(&win);
  MPI_Finalize();
  return seen != 9;
}
