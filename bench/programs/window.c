/* A 5-point stencil on memory that other ranks may access at any time: every load and store is
 * noted.
 *
 *   window NX NY SECONDS */
#include "measure.h"

static int nx, ny;
static double *from, *to;

static void sweeps(int times) {
  for (int k = 0; k < times; k++) {
    for (int j = 1; j < ny - 1; j++)
      for (int i = 1; i < nx - 1; i++) {
        const double *cell = from + (size_t)j * nx + i;
        to[(size_t)j * nx + i] = 0.2 * (cell[0] + cell[-1] + cell[1] + cell[-nx] + cell[nx]);
      }
    double *other = from;
    from = to;
    to = other;
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) {
    fprintf(stderr, "usage: mpirun -n 1 window NX NY SECONDS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  nx = atoi(argv[1]);
  ny = atoi(argv[2]);
  const size_t cells = (size_t)nx * ny;
  double *memory;
  MPI_Win window;
  MPI_Win_allocate(2 * cells * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &memory, &window);
  MPI_Win_lock_all(0, window);
  for (size_t i = 0; i < 2 * cells; i++) memory[i] = (double)(i % 7);
  from = memory;
  to = memory + cells;
  const double seconds = measure(sweeps, atof(argv[3]));
  print_measured(seconds / ((double)(nx - 2) * (ny - 2)));
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
