/* A quantity carried by the wind over a regular grid that is cut into one block per rank; edges of
 * blocks travel by one-sided communication. */
#ifndef HALO_H
#define HALO_H

#include <mpi.h>
#include <stddef.h>

enum side { WEST, EAST, SOUTH, NORTH, SIDES };
#define OPPOSITE(side) ((side) ^ 1)

enum mode { FENCE, PSCW, PASSIVE };

/* One block: nx * ny cells inside a frame of halo cells, row after row. */
struct field {
  int nx, ny, x0, y0; /* cells of this block, and where it begins */
  double *now, *next;
};

/* Who puts where: both sides of each edge. */
struct exchange {
  MPI_Comm comm;
  enum mode mode;
  int step, neighbour[SIDES], length[SIDES];
  double *send[SIDES];
  double *receive;           /* the window's memory: for each set a buffer for each side */
  MPI_Aint mine[SIDES][2];   /* where the buffers of both sets begin here */
  MPI_Aint theirs[SIDES][2]; /* and at the neighbour on that side, for what is put there */
  MPI_Group neighbours;
  MPI_Win win;
};

static inline size_t at(const struct field *f, int i, int j) {
  return (size_t)j * (size_t)(f->nx + 2) + (size_t)i;
}

/* field.c */
void field_create(struct field *f, int nx, int ny, int x0, int y0);
void field_free(struct field *f);
void field_step(struct field *f);
void pack(const struct field *f, enum side side, double *out);
void unpack(struct field *f, enum side side, const double *in);

/* exchange.c */
void exchange_create(struct exchange *x, const struct field *f, MPI_Comm cart, enum mode mode);
void exchange_halo(struct exchange *x, struct field *f);
void exchange_free(struct exchange *x);

#endif
