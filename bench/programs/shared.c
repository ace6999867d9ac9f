/* A 5-point stencil on a window of shared memory: each rank updates its rows, loads its neighbours'
 * rows in place, and waits for all between two sweeps.
 *
 *   shared NX NY SECONDS */
#include "measure.h"

static int nx, ny, up, down;
/* For each of two fields: this rank's rows, and the nearest row of each neighbour. */
static double *mine[2], *above[2], *below[2];
static MPI_Win window;

static void row(double *restrict to, const double *north, const double *here, const double *south) {
  for (int i = 1; i < nx - 1; i++)
    to[i] = 0.2 * (here[i] + here[i - 1] + here[i + 1] + north[i] + south[i]);
}

static void sweeps(int times) {
  for (int k = 0; k < times; k++) {
    const int from = k & 1, to = 1 - from;
    for (int j = 0; j < ny; j++) {
      const double *here = mine[from] + (size_t)j * nx;
      row(mine[to] + (size_t)j * nx, j ? here - nx : above[from], here,
          j < ny - 1 ? here + nx : below[from]);
    }
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, unit;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 4) {
    fprintf(stderr, "usage: mpirun -n 2 shared NX NY SECONDS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  nx = atoi(argv[1]);
  ny = atoi(argv[2]);
  up = (rank + size - 1) % size;
  down = (rank + 1) % size;
  const size_t cells = (size_t)nx * ny;
  double *rows;
  MPI_Aint bytes;
  MPI_Win_allocate_shared(2 * cells * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD,
                          &rows, &window);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  for (size_t i = 0; i < 2 * cells; i++) rows[i] = (double)(i % 7);
  for (int field = 0; field < 2; field++) {
    double *theirs;
    mine[field] = rows + field * cells;
    MPI_Win_shared_query(window, up, &bytes, &unit, &theirs);
    above[field] = theirs + field * cells + (size_t)(ny - 1) * nx;
    MPI_Win_shared_query(window, down, &bytes, &unit, &theirs);
    below[field] = theirs + field * cells;
  }
  MPI_Win_sync(window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(window);
  const double seconds = measure(sweeps, atof(argv[3]));
  print_measured(seconds / ((double)(nx - 2) * ny));
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
