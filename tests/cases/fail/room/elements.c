// Variables are used as what they are not: reals as integers, narrow ones as wide ones, both at the
// root alone.
//# np: 2
#include <mpi.h>

static float weights[6];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double sum = 1;
  int numbers[8] = {0};
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(numbers, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Bcast(weights, 3, MPI_INT64_T, 0, MPI_COMM_WORLD); //~ CS-ARG-03 operation ranks=0,1
  MPI_Finalize();
  return numbers[7];
}
