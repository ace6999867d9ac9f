/* Communicators that some ranks do not have: not all ask before they use them. */
#include <mpi.h>
#include <stdio.h>

typedef struct {
  MPI_Comm leaders;
  int leads;
} Groups;

static void make(Groups *g, int every) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  g->leads = rank % every == 0;
  g->leaders = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, g->leads ? 1 : MPI_UNDEFINED, rank, &g->leaders);
}

static void publish(Groups *g, double *x) {
  MPI_Bcast(x, 1, MPI_DOUBLE, 0, g->leaders); //~ CS-ARG-01 operation possible
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Groups g;
  make(&g, 2);
  double x = 1;
  publish(&g, &x);
  MPI_Comm first;
  int color = MPI_UNDEFINED;
  if (rank < 2) color = 0;
  MPI_Comm_split(MPI_COMM_WORLD, color, rank, &first);
  if (first != MPI_COMM_NULL) {
    MPI_Barrier(first);
    MPI_Comm_free(&first);
    MPI_Barrier(MPI_COMM_WORLD); //~ CS-COL-01 access possible
  }
  MPI_Comm_free(&g.leaders); //~ CS-ARG-01 operation possible
  printf("%g\n", x);
  MPI_Finalize();
}
