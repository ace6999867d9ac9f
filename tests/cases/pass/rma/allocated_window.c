// Memory from MPI_Win_allocate is read after the fence.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank, out = 7, *memory;

  MPI_Win win;
  MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);

  MPI_Win_fence(0, win);
  MPI_Put(&out, 1, MPI_INT, peer, 3, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  int seen = memory[3];
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return seen == 7 ? 0 : 1;
}
