// The owner of memory from MPI_Win_allocate_shared reads it while the other rank puts into it.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank, out = 7, *memory;

  MPI_Win win;
  MPI_Win_allocate_shared(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);

  MPI_Win_lock_all(0, win);
  MPI_Put(&out, 1, MPI_INT, peer, 3, 1, MPI_INT, win); //~ CS-RMA-03 operation
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(win);
  int seen = memory[3]; //~ CS-RMA-03 access
  MPI_Win_unlock_all(win);

  printf("%d\n", seen);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
