/* MPI_IN_PLACE is no buffer of a broadcast. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  double one = 1;
  MPI_Bcast(MPI_IN_PLACE, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);  //~ CS-ARG-01 operation
  MPI_Finalize();
  return one < 0;
}
