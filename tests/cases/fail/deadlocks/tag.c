// A message has another tag than its receiver waits for.
//# np: 2
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int value = rank;
  if (rank == 0) {
    MPI_Ssend(&value, 1, MPI_INT, 1, 6, MPI_COMM_WORLD); //~ CS-DLK-01 wait ranks=0,1
  } else {
    MPI_Recv(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-DLK-01 wait
  }
  MPI_Finalize();
  return 0;
}
