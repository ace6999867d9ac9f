// A rank that has nothing to do returns early.
//# np: 2
#include <mpi.h>

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv); //~ CS-INI-02 operation
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  return 0;
}
