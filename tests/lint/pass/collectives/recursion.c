/* Each rank recurses as deep as its rank says. Corrected. */
#include <mpi.h>

static void down(int depth) {
  if (depth == 0) return;
  MPI_Barrier(MPI_COMM_WORLD);
  down(depth - 1);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  down(size);
  MPI_Finalize();
  return (int)(x - y) & 0;
}
