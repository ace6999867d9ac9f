/* Root and others run through loops of their own over the same broadcast. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  if (rank == 0) {
    for (int i = 0; i < 10; i++) {
      x += i;
      MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
  } else {
    for (int i = 0; i < 10; i++) {
      MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
      y += x;
    }
  }
  MPI_Finalize();
  return (int)(x - y) & 0;
}
