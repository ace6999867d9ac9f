// No put to the rank whose window is empty.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int memory[4], out = 7;
  MPI_Aint bytes = rank == 0 ? sizeof memory : 0;
  MPI_Win win;
  MPI_Win_create(memory, bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  int target = rank == 0 ? MPI_PROC_NULL : 0;
  MPI_Win_fence(0, win);
  MPI_Put(&out, 1, MPI_INT, target, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return memory[0] == (rank == 0 ? 7 : 0) ? 0 : 1;
}
