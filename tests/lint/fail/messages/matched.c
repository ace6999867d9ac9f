// Messages whose two sides do not fit: another type, too long, never received; all through
// functions and members.
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
  if (g->rank > 0) MPI_Recv(g->now, 8, MPI_FLOAT, g->rank - 1, tag, g->comm, &status); //~ CS-MSG-01 access
  if (g->rank + 1 < g->size) MPI_Send(g->now, 8, MPI_DOUBLE, g->rank + 1, tag, g->comm); //~ CS-MSG-01 operation
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
    MPI_Send(numbers, 3, MPI_INT, 1, 7, g.comm); //~ CS-ERR-01 operation
    MPI_Send(numbers, 16, MPI_BYTE, 1, 8, g.comm);
    MPI_Send(numbers, 1, MPI_INT, 1, 9, g.comm); //~ CS-MSG-02 operation
  } else if (g.rank == 1) {
    MPI_Status status;
    MPI_Probe(0, 7, g.comm, &status);
    MPI_Get_count(&status, MPI_INT, &length);
    MPI_Recv(numbers, length - 1, MPI_INT, 0, 7, g.comm, MPI_STATUS_IGNORE); //~ CS-ERR-01 access
    MPI_Recv(numbers, 4, MPI_INT, 0, 8, g.comm, &status);
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
