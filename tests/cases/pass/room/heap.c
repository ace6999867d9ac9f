// Calls use blocks of the heap up to their ends, after they have grown, too.
//# np: 2
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int *block = calloc(100, sizeof *block);
  double *line = malloc(10 * sizeof *line);
  line = realloc(line, 100 * sizeof *line);
  for (int i = 0; i < 100; i++) line[i] = i;
  if (rank == 0) {
    MPI_Send(block + 60, 40, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Send(line, 99, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
  } else {
    MPI_Recv(block, 100, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(line, 100, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  free(block);
  void *aligned;
  if (posix_memalign(&aligned, 4096, 4096) != 0) return 1;
  MPI_Bcast(aligned, 4096, MPI_BYTE, 0, MPI_COMM_WORLD);
  free(aligned);
  free(line);
  MPI_Finalize();
  return 0;
}
