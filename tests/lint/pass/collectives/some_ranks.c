/* A communicator that only some ranks are in. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  MPI_Comm some;
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, 0, &some);
  if (some != MPI_COMM_NULL) {
    MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, some);
    MPI_Comm_free(&some);
  }
  MPI_Finalize();
  return (int)(x - y) & 0;
}
