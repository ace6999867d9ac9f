/* The condition has been received in a message. Corrected. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  int go = rank + 1;
  MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (go) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return (int)(x - y) & 0;
}
