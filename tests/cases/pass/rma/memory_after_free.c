// Memory of a window that was freed is used at will, and then for another window.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int memory[16], out = 7;
  MPI_Win win;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  MPI_Put(&out, 1, MPI_INT, peer, 8, 1, MPI_INT, win);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);

  int seen = memory[8];
  memory[8] = out = 8;
  MPI_Win_create(memory + 4, 4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Put(&out, 1, MPI_INT, peer, 0, 1, MPI_INT, win);
  memory[8] = 9;
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return seen == 7 && memory[4] == 8 && memory[8] == 9 ? 0 : 1;
}
