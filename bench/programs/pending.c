/* One variable of the origin is added to element after element of the other rank's window, ever
 * more often between two fences: a program with many operations that are pending and read the same
 * bytes.
 *
 *   pending OPERATIONS SECONDS */
#include "measure.h"

static int rank, operations;
static MPI_Win window;

static void rounds(int times) {
  for (int k = 0; k < times; k++) {
    double one = 1;
    for (int i = 0; i < operations; i++)
      MPI_Accumulate(&one, 1, MPI_DOUBLE, 1 - rank, i * 7 % operations, 1, MPI_DOUBLE, MPI_SUM, window);
    MPI_Win_fence(0, window);
  }
}

int main(int argc, char **argv) {
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  operations = argc == 3 ? atoi(argv[1]) : 0;
  if (operations < 1 || ranks != 2) {
    fprintf(stderr, "usage: mpirun -n 2 pending OPERATIONS SECONDS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  double *memory;
  MPI_Win_allocate(operations * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_fence(0, window);
  print_measured(measure(rounds, atof(argv[2])));
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
