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
    MPI_Barrier(MPI_COMM_WORLD); //~ CS-DLK-01 wait
  else
    MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-DLK-01 wait
  MPI_Finalize();
  return 0;
}
