// A rank that broadcasts before it sends, to one that receives after that, too.
//# np: 3
//# options: --stuck-after 1 --strict-collectives
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, parameter = 3, work = 4;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Bcast(&parameter, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Send(&work, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(&work, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
