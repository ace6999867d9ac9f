// A burst of puts, flushed, while their target waits in a barrier: they are complete when it
// leaves.
#include <mpi.h>
#include <stdlib.h>

enum { MANY = 100000 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, *memory, *out = calloc(MANY, sizeof *out);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  out[7] = 7;

  MPI_Win win;
  MPI_Win_allocate(MANY * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);

  MPI_Win_lock_all(0, win);
  if (rank == 1) {
    for (int i = 0; i < MANY; i++) MPI_Put(&out[i], 1, MPI_INT, 0, i, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  int seen = rank == 0 ? memory[7] : 7;
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  free(out);
  MPI_Finalize();
  return seen == 7 ? 0 : 1;
}
