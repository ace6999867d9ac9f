// Input and result are one array without MPI_IN_PLACE (MPI 4.1 §2.3); MPICH refuses the call.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

  static double norms[2] = {1, 2};
  MPI_Allreduce(norms, norms, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); //~ CS-BUF-04 operation //~ CS-BUF-04 access

  MPI_Finalize();
  return 0;
}
