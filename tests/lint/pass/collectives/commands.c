/* Rank 0 tells the others by broadcasts what to call next; what it decides on the way, it decides
 * alone. */
#include <mpi.h>
#include <stdio.h>

enum { STOP, SUM, SYNC };
typedef struct {
  int what;
  double factor;
} Command;

static MPI_Comm comm;
static double x[100];

static void sum(Command *c) {
  double mine = 0, all = 0;
  for (int i = 0; i < 100; i++) mine += c->factor * x[i];
  MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
  c->factor = all;
}
static void sync(Command *c) {
  x[0] = c->factor;
  MPI_Barrier(comm);
}
static void (*const calls[])(Command *) = {NULL, sum, sync};

static void tell(Command *c) {
  MPI_Bcast(c, sizeof *c, MPI_BYTE, 0, comm);
}

static void serve(void) {
  for (;;) {
    Command c;
    tell(&c);
    if (c.what == STOP) return;
    calls[c.what](&c);
  }
}

static double order(int what, double factor) {
  Command c = {what, factor};
  tell(&c);
  calls[what](&c);
  return c.factor;
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  if (rank > 0) {
    serve();
  } else {
    double result = 1;
    for (int i = 0; i < 10 && result > 0.1; i++) {
      result = order(SUM, result);
      if (result < 1) order(SYNC, 0);
    }
    Command stop = {STOP, 0};
    tell(&stop);
    printf("%g\n", result);
  }
  MPI_Comm_free(&comm);
  MPI_Finalize();
}
