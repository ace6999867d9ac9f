/* Temperature of a pipe's wall, unrolled: x runs around the pipe (so the domain is periodic in x),
 * y along it, where both ends are kept at a fixed temperature.
 *
 * Explicit time steps of  dT/dt = alpha (d2T/dx2 + d2T/dy2) + sources  on a regular grid of
 * spacing 1, cut into one block per rank. */
#ifndef HEAT_H
#define HEAT_H

#include <mpi.h>
#include <stddef.h>

#define MAX_SOURCES 8

/* Position and radius are fractions of the domain, power is degrees per second at the centre. */
struct source {
  double x, y, radius, power;
};

/* The contents of heat.in. */
struct params {
  int nx, ny, steps, output_every, sources;
  double alpha, initial, south, north;
  struct source source[MAX_SOURCES];
  char image[256]; /* name of a PGM picture of the result; empty: none */
};

/* One rank's block: nx * ny cells inside a frame of halo cells, row after row. */
struct grid {
  MPI_Comm comm;
  int rank, west, east, south, north; /* neighbours */
  int nx, ny, x0, y0;                 /* cells of this block, and where it begins */
  int global_nx, global_ny;
  double *now, *next, *heating; /* temperature of this step and the next, sources times dt */
};

/* The halo exchange in flight. */
struct halo {
  MPI_Request request[8];
  int pending;
  double *recv_west, *recv_east;
  double *send_west, *send_east;
};

static inline size_t at(const struct grid *g, int i, int j) {
  return (size_t)j * (size_t)(g->nx + 2) + (size_t)i;
}

/* input.c */
struct params read_params(const char *file, MPI_Comm comm);

/* grid.c */
void grid_create(struct grid *g, const struct params *p, MPI_Comm comm);
void grid_free(struct grid *g);
void block_of(const struct grid *g, int rank, int *nx, int *ny, int *x0, int *y0);
void pack_column(const struct grid *g, int i, double *out);
void unpack_column(struct grid *g, int i, const double *in);

/* exchange.c, or exchange_buggy.c */
void halo_create(struct halo *h, const struct grid *g);
void halo_start(struct halo *h, struct grid *g);
void halo_finish(struct halo *h, struct grid *g);
void halo_free(struct halo *h);

/* solver.c */
double solve(struct grid *g, const struct params *p);

/* output.c */
void print_result(const struct grid *g);
void write_image(const struct grid *g, const char *file);

#endif
