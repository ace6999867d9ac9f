// Messages whose two sides fit: rows of a struct as its parts, bytes, results of a split, a chain
// of ranks.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct grid {
  int rank, size;
  MPI_Comm comm;
  double *now;
};

static void pass_on(struct grid *g, int tag) {
  MPI_Status status;
  if (g->rank > 0) MPI_Recv(g->now, 8, MPI_DOUBLE, g->rank - 1, tag, g->comm, &status);
  if (g->rank + 1 < g->size) MPI_Send(g->now, 8, MPI_DOUBLE, g->rank + 1, tag, g->comm);
}

int main(int argc, char **argv) {
  struct grid g;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &g.comm);
  MPI_Comm_rank(g.comm, &g.rank);
  MPI_Comm_size(g.comm, &g.size);
  g.now = malloc(8 * sizeof *g.now);
  for (int i = 0; i < 8; i++) g.now[i] = i;
  for (int step = 0; step < 3; step++) pass_on(&g, step);

  int numbers[4] = {g.rank}, length = 0;
  if (g.rank == 0) {
    MPI_Send(numbers, 3, MPI_INT, 1, 7, g.comm);
    MPI_Send(numbers, 16, MPI_BYTE, 1, 8, g.comm);
  } else if (g.rank == 1) {
    MPI_Status status;
    MPI_Probe(0, 7, g.comm, &status);
    MPI_Get_count(&status, MPI_INT, &length);
    MPI_Recv(numbers, length, MPI_INT, 0, 7, g.comm, MPI_STATUS_IGNORE);
    MPI_Recv(numbers, 4, MPI_INT, MPI_ANY_SOURCE, 8, g.comm, &status);
    if (length != 3) MPI_Abort(g.comm, 1);
  }

  MPI_Comm half;
  int in_half;
  MPI_Comm_split(g.comm, g.rank % 2, -g.rank, &half);
  MPI_Comm_rank(half, &in_half);
  MPI_Bcast(numbers, 4, MPI_INT, 0, half);
  if (g.now[0] > 1) puts("large");
  MPI_Comm_free(&half);
  MPI_Comm_free(&g.comm);
  free(g.now);
  MPI_Finalize();
  return 0;
}
