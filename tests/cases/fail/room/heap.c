// Blocks of the heap are shorter than what calls use: in bytes instead of elements, from the
// middle, by a receive.
//# np: 2
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int *block = calloc(100, sizeof *block);
  double *line = malloc(100 * sizeof *line);
  if (rank == 0) {
    MPI_Send(block + 60, 41, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ CS-BUF-07 operation ranks=0
    MPI_Send(line, 99, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
  } else {
    MPI_Recv(block, 41, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    // What comes would fit.
    MPI_Recv(line, 101, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-BUF-07 operation ranks=1
  }
  free(block);
  free(line);
  MPI_Finalize();
  return 0;
}
