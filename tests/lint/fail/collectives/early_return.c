/* A rank returns before the barrier. */
#include <mpi.h>

static int me;

static void step(void) {
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (me == 1) return; //~ CS-COL-01 cause
  MPI_Barrier(MPI_COMM_WORLD); //~ CS-COL-01 access
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  step();
  MPI_Finalize();
  return (int)(x - y) & 0;
}
