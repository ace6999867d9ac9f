// What one rank passes as two real numbers another one takes for integers of as many bytes.
//# np: 2
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, counts[2] = {4, 2}, expected[2] = {4, 4}, places[2] = {0, 16};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double data[4] = {0}, got[4] = {0};
  MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, wanted[2] = {MPI_INT, MPI_INT};
  if (rank == 1) {
    types[0] = MPI_INT, counts[0] = 4, types[1] = MPI_INT, counts[1] = 4;
  }
  MPI_Alltoallw(data, counts, places, types, got, expected, places, wanted, MPI_COMM_WORLD); //~ CS-COL-04 access ranks=0,1 //~ CS-COL-04 operation
  MPI_Finalize();
  return 0;
}
