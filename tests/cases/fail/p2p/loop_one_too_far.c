// The sweep over a row goes one cell too far, into the cell that a pending receive fills; the cells
// before it lie in the same page.
#include <mpi.h>

enum { CELLS = 40 };

static void sweep(double *cell, const double *weight, int n) {
  for (int i = 0; i < n; i++) {
    double scaled = weight[i] * 2;
    cell[i] = scaled; //~ CS-BUF-03 access
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static double cell[CELLS + 1], weight[CELLS + 1];
  for (int i = 0; i <= CELLS; i++) weight[i] = i;
  double edge = 7;
  MPI_Request request;
  MPI_Irecv(&cell[CELLS], 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-03 operation
  sweep(cell, weight, CELLS + 1);
  MPI_Send(&edge, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
