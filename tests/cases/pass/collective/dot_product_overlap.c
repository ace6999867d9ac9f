// A pipelined solver overlaps its dot products with the update of the residual.
#include <mpi.h>
#include <stdlib.h>

enum { N = 64, STEPS = 3 };

typedef struct {
  double *x, *r, *w;
  double local[2], global[2];
} solver;

static void local_products(solver *s) {
  s->local[0] = s->local[1] = 0;
  for (int i = 0; i < N; i++) {
    s->local[0] += s->r[i] * s->r[i];
    s->local[1] += s->w[i] * s->r[i];
  }
}

static void apply(const double *from, double *to) {
  for (int i = 0; i < N; i++) {
    to[i] = 2 * from[i] - 0.5 * (from[(i + 1) % N] + from[(i + N - 1) % N]);
  }
}

static double step_length(const double *products) {
  return products[1] == 0 ? 0 : products[0] / products[1];
}

static void advance(solver *s, double alpha) {
  for (int i = 0; i < N; i++) {
    s->x[i] += alpha * s->r[i];
    s->r[i] -= alpha * s->w[i];
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  solver *s = calloc(1, sizeof(*s));
  s->x = calloc(N, sizeof(double));
  s->r = malloc(N * sizeof(double));
  s->w = malloc(N * sizeof(double));
  for (int i = 0; i < N; i++) {
    s->r[i] = 1;
  }
  for (int step = 0; step < STEPS; step++) {
    MPI_Request request;
    apply(s->r, s->w);
    local_products(s);
    MPI_Iallreduce(s->local, s->global, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    double alpha = step_length(s->global);
    advance(s, alpha);
  }
  double x = s->x[0];
  free(s->x);
  free(s->r);
  free(s->w);
  free(s);

  MPI_Finalize();
  return x == 1 ? 0 : 1;
}
