// An integer is received as a real.
//# np: 2
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int number = 3;
  float real = 0;
  if (rank == 0) {
    MPI_Send(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ CS-MSG-01 operation
  } else {
    MPI_Recv(&real, 1, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-MSG-01 access ranks=1
  }
  MPI_Finalize();
  return 0;
}
