// Reductions of datatypes that they are defined for.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static signed char small[4], all[4];
  static double real[4], reals[4];
  static int whole[8], wholes[8];
  MPI_Allreduce(small, all, 4, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce(real, reals, 4, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
  MPI_Scan(whole, wholes, 4, MPI_2INT, MPI_MAXLOC, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, wholes, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
