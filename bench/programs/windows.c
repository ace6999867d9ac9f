/* Puts into one of many windows, between fences: what synchronisation costs where others are open,
 * too.
 *
 *   windows COUNT SECONDS */
#include "measure.h"

enum { DOUBLES = 512 };

static int rank;
static MPI_Win first;

static void fences(int times) {
  static double out[DOUBLES];
  for (int k = 0; k < times; k++) {
    MPI_Put(out, DOUBLES, MPI_DOUBLE, 1 - rank, 0, DOUBLES, MPI_DOUBLE, first);
    MPI_Win_fence(0, first);
  }
}

int main(int argc, char **argv) {
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int count = argc == 3 ? atoi(argv[1]) : 0;
  MPI_Win *windows = malloc((size_t)count * sizeof *windows);
  if (ranks != 2 || count < 1 || !windows) {
    fprintf(stderr, "usage: mpirun -n 2 windows COUNT SECONDS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  for (int i = 0; i < count; i++) {
    double *memory;
    MPI_Win_allocate(DOUBLES * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &memory, &windows[i]);
    MPI_Win_fence(0, windows[i]);
  }
  first = windows[0];
  print_measured(measure(fences, atof(argv[2])));
  for (int i = 0; i < count; i++) {
    MPI_Win_fence(0, windows[i]);
    MPI_Win_free(&windows[i]);
  }
  free(windows);
  MPI_Finalize();
  return 0;
}
