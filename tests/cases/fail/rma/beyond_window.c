// The last of four elements is put beyond the target's window.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int memory[8], out[4] = {7, 7, 7, 7};
  MPI_Win win;
  MPI_Win_create(memory, 4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);

  int begin = 1;
  MPI_Win_fence(0, win);
  MPI_Put(out, 4, MPI_INT, peer, begin, 4, MPI_INT, win); //~ CS-WIN-02 access
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
