// Which rank this is cannot be told before MPI is there.
//# np: 2
#include <mpi.h>

int main(int argc, char **argv) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank); //~ CS-INI-01 operation
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
