/* Halo exchange with the four neighbours, started before the inner cells are computed and finished
 * after. Rows lie together in memory and are sent from the grid; columns are packed. */
#include "heat.h"

#include <stdlib.h>

enum { TO_WEST, TO_EAST, TO_SOUTH, TO_NORTH };

void halo_create(struct halo *h, const struct grid *g) {
  size_t bytes = (size_t)g->ny * sizeof(double);
  h->recv_west = malloc(bytes);
  h->recv_east = malloc(bytes);
  h->send_west = malloc(bytes);
  h->send_east = h->send_west; /* columns are packed one after the other: one buffer will do */
}

static void receive(struct halo *h, const struct grid *g, double *to, int n, int from, int tag) {
  MPI_Irecv(to, n, MPI_DOUBLE, from, tag, g->comm, &h->request[h->pending++]);
}

static void send_row(struct halo *h, const struct grid *g, int j, int to, int tag) {
  MPI_Isend(&g->now[at(g, 1, j)], g->nx, MPI_DOUBLE, to, tag, g->comm, &h->request[h->pending++]);
}

static void send_column(struct halo *h, const struct grid *g, int i, int to, int tag) {
  double *column = tag == TO_WEST ? h->send_west : h->send_east;
  pack_column(g, i, column);
  MPI_Isend(column, g->ny, MPI_DOUBLE, to, tag, g->comm, &h->request[h->pending++]);
}

void halo_start(struct halo *h, struct grid *g) {
  h->pending = 0;
  receive(h, g, h->recv_west, g->ny, g->west, TO_EAST);
  receive(h, g, h->recv_east, g->ny, g->east, TO_WEST);
  receive(h, g, &g->now[at(g, 1, 0)], g->nx, g->south, TO_NORTH);
  receive(h, g, &g->now[at(g, 1, g->ny + 1)], g->nx, g->north, TO_SOUTH);

  send_column(h, g, 1, g->west, TO_WEST);
  send_column(h, g, g->nx, g->east, TO_EAST);
  send_row(h, g, 1, g->south, TO_SOUTH);
  send_row(h, g, g->ny, g->north, TO_NORTH);
}

void halo_finish(struct halo *h, struct grid *g) {
  MPI_Waitall(h->pending, h->request, MPI_STATUSES_IGNORE);
  unpack_column(g, 0, h->recv_west);
  unpack_column(g, g->nx + 1, h->recv_east);
}

void halo_free(struct halo *h) {
  free(h->recv_west);
  free(h->recv_east);
  free(h->send_west);
}
