// Which rank's value is left in the variable is a matter of timing; what is read before the next
// one comes is not.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, value = 0, sum = 0, result = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int tag = 1; tag < 3; tag++) {
    if (rank > 0) {
      value = 10 * rank;
      MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    }
  }
  if (rank == 0) {
    for (int i = 0; i < 2; i++) {
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      sum += value;
    }
    for (int i = 0; i < 2; i++) {
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-MSG-05 operation
    }
    MPI_Barrier(MPI_COMM_WORLD);
    result = value; //~ CS-MSG-05 access
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return rank == 0 && (sum != 30 || result % 10 != 0);
}
