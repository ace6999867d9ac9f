// A function gathers through an index: called while nothing is pending, and while what it gathers
// is received.
#include <mpi.h>
#include <stdio.h>

enum { CELLS = 1000 };

static double cell[CELLS], edge[CELLS];
static int neighbour[CELLS];

__attribute__((noinline)) static double gathered(const double *from, const int *index, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double value = from[index[i]]; //~ CS-BUF-02 access
    if (value < 0) continue;
    for (int k = 0; k < 3; k++) sum += value * cell[(index[i] + k) % CELLS];
  }
  return sum;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  for (int i = 0; i < CELLS; i++) cell[i] = 1, edge[i] = rank, neighbour[i] = (i * 7) % CELLS;

  double before = gathered(edge, neighbour, CELLS);
  MPI_Request requests[2];
  static double own[CELLS];
  MPI_Irecv(edge, CELLS, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &requests[0]); //~ CS-BUF-02 operation
  MPI_Isend(own, CELLS, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &requests[1]);
  double during = gathered(edge, neighbour, CELLS);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  double after = gathered(edge, neighbour, CELLS);

  printf("%g %g %g\n", before, during, after);
  MPI_Finalize();
  return 0;
}
