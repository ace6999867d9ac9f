/* A block of the grid: storage, time step, edges. */
#include "halo.h"

#include <stdlib.h>

void field_create(struct field *f, int nx, int ny, int x0, int y0) {
  size_t cells = (size_t)(nx + 2) * (size_t)(ny + 2);
  *f = (struct field){nx, ny, x0, y0, calloc(cells, sizeof(double)), calloc(cells, sizeof(double))};
  if (!f->now || !f->next) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int j = 1; j <= ny; j++) {
    for (int i = 1; i <= nx; i++) f->now[at(f, i, j)] = (x0 + i) * (y0 + j) % 17;
  }
}

void field_free(struct field *f) {
  free(f->now);
  free(f->next);
}

/* Upwind differences for a wind that blows to the east and north, and some diffusion. */
void field_step(struct field *f) {
  const double wind_x = 0.3, wind_y = 0.2, diffusion = 0.1;
  for (int j = 1; j <= f->ny; j++) {
    for (int i = 1; i <= f->nx; i++) {
      const double *c = &f->now[at(f, i, j)];
      double west = c[-1], east = c[1], south = c[-(f->nx + 2)], north = c[f->nx + 2];
      f->next[at(f, i, j)] = *c - wind_x * (*c - west) - wind_y * (*c - south) +
                             diffusion * (west + east + south + north - 4 * *c);
    }
  }
  double *swap = f->now;
  f->now = f->next;
  f->next = swap;
}

/* First cell and stride of the row or column of cells at a side, `out` cells outside the block. */
static double *edge(const struct field *f, enum side side, int out, size_t *stride) {
  *stride = side == WEST || side == EAST ? (size_t)(f->nx + 2) : 1;
  switch (side) {
    case WEST: return &f->now[at(f, 1 - out, 1)];
    case EAST: return &f->now[at(f, f->nx + out, 1)];
    case SOUTH: return &f->now[at(f, 1, 1 - out)];
    default: return &f->now[at(f, 1, f->ny + out)];
  }
}

void pack(const struct field *f, enum side side, double *out) {
  size_t stride;
  const double *cell = edge(f, side, 0, &stride);
  int length = side == WEST || side == EAST ? f->ny : f->nx;
  for (int k = 0; k < length; k++) out[k] = cell[(size_t)k * stride];
}

void unpack(struct field *f, enum side side, const double *in) {
  size_t stride;
  double *cell = edge(f, side, 1, &stride);
  int length = side == WEST || side == EAST ? f->ny : f->nx;
  for (int k = 0; k < length; k++) cell[(size_t)k * stride] = in[k];
}
