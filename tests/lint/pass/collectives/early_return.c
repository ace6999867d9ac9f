/* A rank returns before the barrier. Corrected. */
#include <mpi.h>

static int me;

static void step(void) {
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 1) return;
  me = 0;
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
