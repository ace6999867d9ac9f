/* halo fence|pscw|passive [steps] */
#include "halo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NX = 120, NY = 80 };

static enum mode mode_of(const char *word) {
  if (strcmp(word, "passive") == 0) return PASSIVE;
  return strcmp(word, "pscw") == 0 ? PSCW : FENCE;
}

/* Cells of part `part` when `cells` are dealt out to `parts`, and the first of them. */
static int share(int cells, int parts, int part, int *first) {
  int each = cells / parts, left = cells % parts;
  *first = part * each + (part < left ? part : left);
  return each + (part < left);
}

static void create_block(struct field *f, MPI_Comm cart) {
  int dims[2], periods[2], coords[2], x0, y0;
  MPI_Cart_get(cart, 2, dims, periods, coords);
  int nx = share(NX, dims[0], coords[0], &x0), ny = share(NY, dims[1], coords[1], &y0);
  field_create(f, nx, ny, x0, y0);
}

/* Cells that differ from those of one block that covers the whole grid. */
static int wrong_cells(const struct field *f, int steps) {
  struct field all;
  int wrong = 0, total;
  field_create(&all, NX, NY, 0, 0);
  for (int step = 0; step < steps; step++) field_step(&all);
  for (int j = 1; j <= f->ny; j++) {
    for (int i = 1; i <= f->nx; i++) {
      wrong += f->now[at(f, i, j)] != all.now[at(&all, f->x0 + i, f->y0 + j)];
    }
  }
  field_free(&all);
  MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return total;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int steps = argc > 2 ? atoi(argv[2]) : 100;
  int rank, ranks, dims[2] = {0, 0}, periods[2] = {0, 0};
  MPI_Comm cart;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
  MPI_Comm_rank(cart, &rank);

  struct field f;
  struct exchange x;
  create_block(&f, cart);
  exchange_create(&x, &f, cart, mode_of(argc > 1 ? argv[1] : "fence"));
  double begin = MPI_Wtime();
  for (int step = 0; step < steps; step++) {
    exchange_halo(&x, &f);
    field_step(&f);
  }
  double seconds = MPI_Wtime() - begin;
  int wrong = wrong_cells(&f, steps);
  if (rank == 0) printf("%.6f s, %d cells wrong\n", seconds, wrong);

  exchange_free(&x);
  field_free(&f);
  MPI_Comm_free(&cart);
  MPI_Finalize();
  return wrong ? 1 : 0;
}
