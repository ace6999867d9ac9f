/* The time loop. Communication overlaps with computing: the halo travels while the inner cells are
 * updated, and the residual of a step is added up over all ranks during the next step. */
#include "heat.h"

#include <math.h>
#include <stdio.h>

/* Updates row j from column `from` to `to`; returns the sum of squared changes. */
static double update(struct grid *g, int from, int to, int j) {
  const double c = 0.2; /* alpha dt / spacing^2; stable up to 0.25 */
  const double *row = &g->now[at(g, 0, j)], *heating = &g->heating[at(g, 0, j)];
  const double *below = &g->now[at(g, 0, j - 1)], *above = &g->now[at(g, 0, j + 1)];
  double *next = &g->next[at(g, 0, j)], change = 0;
  for (int i = from; i <= to; i++) {
    double d = c * (row[i - 1] + row[i + 1] + below[i] + above[i] - 4 * row[i]) + heating[i];
    next[i] = row[i] + d;
    change += d * d;
  }
  return change;
}

static double update_inner(struct grid *g) {
  double change = 0;
  for (int j = 2; j < g->ny; j++) change += update(g, 2, g->nx - 1, j);
  return change;
}

/* The cells that need the halo: the block's outermost rows and columns. */
static double update_edges(struct grid *g) {
  double change = update(g, 1, g->nx, 1);
  if (g->ny > 1) change += update(g, 1, g->nx, g->ny);
  for (int j = 2; j < g->ny; j++) {
    change += update(g, 1, 1, j);
    if (g->nx > 1) change += update(g, g->nx, g->nx, j);
  }
  return change;
}

static void print_residual(const struct grid *g, const struct params *p, int step, double change) {
  if (g->rank != 0 || p->output_every < 1 || step % p->output_every != 0) return;
  printf("step %6d  residual %.3e\n", step, sqrt(change / p->nx / p->ny));
}

double solve(struct grid *g, const struct params *p) {
  struct halo halo;
  MPI_Request reduction = MPI_REQUEST_NULL;
  double mine = 0, total = 0;
  halo_create(&halo, g);

  MPI_Barrier(g->comm);
  double begin = MPI_Wtime();
  for (int step = 1; step <= p->steps; step++) {
    halo_start(&halo, g);
    double change = update_inner(g);
    halo_finish(&halo, g);
    change += update_edges(g);

    MPI_Wait(&reduction, MPI_STATUS_IGNORE);
    if (step > 1) print_residual(g, p, step - 1, total);
    mine = change;
    MPI_Iallreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, g->comm, &reduction);

    double *swap = g->now;
    g->now = g->next;
    g->next = swap;
  }
  MPI_Wait(&reduction, MPI_STATUS_IGNORE);
  double seconds = MPI_Wtime() - begin;
  print_residual(g, p, p->steps, total);

  halo_free(&halo);
  return seconds;
}
