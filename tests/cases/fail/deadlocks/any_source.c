// All ranks wait for a message from anybody.
//# np: 3
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int value = rank;
  MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-DLK-01 wait
  MPI_Send(&value, 1, MPI_INT, (rank + 1) % 3, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
