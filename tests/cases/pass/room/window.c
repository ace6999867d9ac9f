// Windows that expose all of some memory.
//# np: 2
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int *block = calloc(10, sizeof *block);
  long variable[4] = {0};
  MPI_Win window, other;
  MPI_Win_create(block, 10 * sizeof *block, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_create(variable, sizeof variable, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other);
  MPI_Win_free(&window);
  MPI_Win_free(&other);
  free(block);
  MPI_Finalize();
  return 0;
}
