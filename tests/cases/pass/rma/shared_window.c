// The owner of memory from MPI_Win_allocate_shared reads it after the other rank's flush.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank, out = 7, *memory;

  MPI_Win win;
  MPI_Win_allocate_shared(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);

  MPI_Win_lock_all(0, win);
  MPI_Put(&out, 1, MPI_INT, peer, 3, 1, MPI_INT, win);
  MPI_Win_flush(peer, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(win);
  int seen = memory[3];
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return seen == 7 ? 0 : 1;
}
