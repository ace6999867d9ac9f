// The last of four elements is the window's last.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int memory[8], out[4] = {7, 7, 7, 7};
  MPI_Win win;
  MPI_Win_create(memory, 4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  int begin = 0;
  MPI_Win_fence(0, win);
  MPI_Put(out, 4, MPI_INT, peer, begin, 4, MPI_INT, win);
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return memory[3] == 7 && memory[4] == 0 ? 0 : 1;
}
