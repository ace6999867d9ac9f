/* Decomposition, storage and initial state. */
#include "heat.h"

#include <math.h>
#include <stdlib.h>

/* Cells of part `part` when `cells` are dealt out to `parts`, and the first of them. */
static int share(int cells, int parts, int part, int *first) {
  int each = cells / parts, left = cells % parts;
  *first = part * each + (part < left ? part : left);
  return each + (part < left);
}

void block_of(const struct grid *g, int rank, int *nx, int *ny, int *x0, int *y0) {
  int dims[2], periods[2], mine[2], coords[2];
  MPI_Cart_get(g->comm, 2, dims, periods, mine);
  MPI_Cart_coords(g->comm, rank, 2, coords);
  *nx = share(g->global_nx, dims[0], coords[0], x0);
  *ny = share(g->global_ny, dims[1], coords[1], y0);
}

static double heating(const struct params *p, double x, double y) {
  double sum = 0, dt = 0.2 / p->alpha;
  for (int k = 0; k < p->sources; k++) {
    const struct source *s = &p->source[k];
    double dx = fabs(x - s->x), dy = y - s->y;
    if (dx > 0.5) dx = 1 - dx; /* the short way around the pipe */
    sum += s->power * exp(-(dx * dx + dy * dy) / (s->radius * s->radius));
  }
  return sum * dt;
}

void grid_create(struct grid *g, const struct params *p, MPI_Comm comm) {
  int ranks, dims[2] = {0, 0}, periods[2] = {1, 0};
  MPI_Comm_size(comm, &ranks);
  MPI_Dims_create(ranks, 2, dims);
  MPI_Cart_create(comm, 2, dims, periods, 1, &g->comm);
  MPI_Comm_rank(g->comm, &g->rank);
  MPI_Cart_shift(g->comm, 0, 1, &g->west, &g->east);
  MPI_Cart_shift(g->comm, 1, 1, &g->south, &g->north);

  g->global_nx = p->nx;
  g->global_ny = p->ny;
  block_of(g, g->rank, &g->nx, &g->ny, &g->x0, &g->y0);

  size_t cells = (size_t)(g->nx + 2) * (size_t)(g->ny + 2);
  g->now = malloc(cells * sizeof *g->now);
  g->next = malloc(cells * sizeof *g->next);
  g->heating = calloc(cells, sizeof *g->heating);
  if (!g->now || !g->next || !g->heating) MPI_Abort(comm, 1);

  for (int j = 0; j <= g->ny + 1; j++) {
    int y = g->y0 + j - 1;
    double start = y < 0 ? p->south : y >= p->ny ? p->north : p->initial;
    for (int i = 0; i <= g->nx + 1; i++) {
      g->now[at(g, i, j)] = g->next[at(g, i, j)] = start;
    }
  }
  for (int j = 1; j <= g->ny; j++) {
    for (int i = 1; i <= g->nx; i++) {
      double x = (g->x0 + i - 0.5) / p->nx, y = (g->y0 + j - 0.5) / p->ny;
      g->heating[at(g, i, j)] = heating(p, x, y);
    }
  }
}

void grid_free(struct grid *g) {
  free(g->now);
  free(g->next);
  free(g->heating);
  MPI_Comm_free(&g->comm);
}

void pack_column(const struct grid *g, int i, double *out) {
  for (int j = 1; j <= g->ny; j++) *out++ = g->now[at(g, i, j)];
}

void unpack_column(struct grid *g, int i, const double *in) {
  for (int j = 1; j <= g->ny; j++) g->now[at(g, i, j)] = *in++;
}
