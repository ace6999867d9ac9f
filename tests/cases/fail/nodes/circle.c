/* Ranks of two nodes wait for each other's messages. */
//# np: 4
//# nodes: 2
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  int rank, size, from, to, got = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  from = (rank + size - 1) % size;
  to = (rank + 1) % size;
  MPI_Recv(&got, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-DLK-01 wait
  MPI_Send(&rank, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return got != from;
}
