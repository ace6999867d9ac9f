// One rank frees the window while the other is in a fence.
//# options: --stuck-after 1
#include <mpi.h>

static int memory[4];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win win;
  MPI_Win_create(memory, sizeof memory, sizeof memory[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
  if (rank == 0) MPI_Win_fence(0, win); //~ CS-COL-01 operation
  MPI_Win_free(&win); //~ CS-COL-01 access
  MPI_Finalize();
  return 0;
}
