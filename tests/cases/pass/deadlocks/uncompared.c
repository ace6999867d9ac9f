// Collectives that are not compared count for who waits for whom all the same.
//# np: 2
//# options: --stuck-after 1 --collective-checks=false
#include <mpi.h>

int main(int argc, char **argv) {
  int rank, value = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  else
    MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
