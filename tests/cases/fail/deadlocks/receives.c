// Two ranks receive from each other before they send.
//# np: 2
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int value = rank, other = 1 - rank;
  MPI_Recv(&value, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-DLK-01 wait ranks=0,1
  MPI_Send(&value, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
