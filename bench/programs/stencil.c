/* One sweep of a 5-point stencil after another: a program that does nothing but load and store.
 *
 *   stencil NX NY none|rows|columns SECONDS
 *
 * `rows` and `columns` sweep while receives into the first and last rows, or columns, are pending.
 * They are not touched, but share pages with cells that are. A row shares the pages of its
 * neighbours only; a column has a cell in every row, so it is near all of the grid.
 *
 * With -DMASKED, every other cell is left alone; with -DGATHERED, a table has the neighbours, as
 * in unstructured grids. */
#include "measure.h"

#include <string.h>

static int nx, ny;
static double *from, *to;

#if defined MASKED || defined GATHERED
#define VECTORISED _Pragma("omp simd") /* with -fopenmp-simd; else most compilers do not */
#else
#define VECTORISED
#endif
#ifdef MASKED
#define IS_LEFT_ALONE(i) (left[i] & 1)
#else
#define IS_LEFT_ALONE(i) 0
#endif
#ifdef GATHERED
#define LEFT(i) left[i]
#define RIGHT(i) right[i]
#else
#define LEFT(i) ((i)-1)
#define RIGHT(i) ((i) + 1)
#endif
static int *lefts, *rights;

static void sweep(int times) {
  const int width = nx, *const left = lefts, *const right = rights;
  (void)left, (void)right;
  while (times--) {
    for (int j = 2; j < ny - 2; j++) {
      const double *row = from + (size_t)j * nx;
      double *out = to + (size_t)j * nx;
      VECTORISED
      for (int i = 2; i < width - 2; i++) {
        if (IS_LEFT_ALONE(i)) continue;
        out[i] = 0.2 * (row[i] + row[LEFT(i)] + row[RIGHT(i)] + row[i - width] + row[i + width]);
      }
    }
    double *swap = from;
    from = to;
    to = swap;
  }
}

/* The first and last line of both arrays, as halos that this rank sends to itself. */
static void halo(MPI_Datatype line, size_t last, int send, MPI_Request request[4]) {
  double *at[4] = {from, from + last, to, to + last};
  static double values[1 << 20];
  for (int k = 0; k < 4; k++) {
    int size;
    MPI_Type_size(line, &size);
    if (send) {
      MPI_Isend(values, size, MPI_BYTE, 0, k, MPI_COMM_SELF, &request[k]);
    } else {
      MPI_Irecv(at[k], 1, line, 0, k, MPI_COMM_SELF, &request[k]);
    }
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc != 5 || (nx = atoi(argv[1])) < 8 || (ny = atoi(argv[2])) < 8) {
    fprintf(stderr, "usage: stencil NX NY none|rows|columns SECONDS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  from = malloc((size_t)nx * ny * sizeof *from);
  to = malloc((size_t)nx * ny * sizeof *to);
  for (size_t k = 0; k < (size_t)nx * ny; k++) from[k] = to[k] = k % 1000;

  lefts = malloc(nx * sizeof *lefts);
  rights = malloc(nx * sizeof *rights);
  for (int i = 0; i < nx; i++) lefts[i] = i - 1, rights[i] = i + 1;

  int pending = strcmp(argv[3], "none") != 0, rows = strcmp(argv[3], "rows") == 0;
  MPI_Request request[8];
  MPI_Datatype line;
  size_t last = rows ? (size_t)nx * (ny - 1) : (size_t)nx - 1;
  MPI_Type_vector(rows ? nx : ny, 1, rows ? 1 : nx, MPI_DOUBLE, &line);
  MPI_Type_commit(&line);

  if (pending) halo(line, last, 0, request);
  double seconds = measure(sweep, atof(argv[4]));
  if (pending) {
    halo(line, last, 1, request + 4);
    MPI_Waitall(8, request, MPI_STATUSES_IGNORE);
  }
  print_measured(seconds / (nx - 4.0) / (ny - 4.0));

  MPI_Type_free(&line);
  free(from);
  free(to);
  MPI_Finalize();
  return 0;
}
