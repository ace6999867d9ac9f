// Input and result are one array by MPI_IN_PLACE, or only one of them is significant.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static double norms[2] = {1, 2}, sums[2];
  MPI_Allreduce(MPI_IN_PLACE, norms, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce(norms, rank == 0 ? sums : norms, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Allreduce(norms, norms, 0, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);

  MPI_Finalize();
  return 0;
}
