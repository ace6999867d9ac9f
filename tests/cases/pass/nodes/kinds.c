/* Ranks of two nodes enter the same collective, one of them first. */
//# np: 4
//# nodes: 2
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  int rank, sum = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank < 3) MPI_Recv(&sum, 1, MPI_INT, 3, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  for (int i = 0; i < 3 && rank == 3; i++) MPI_Send(&i, 1, MPI_INT, i, 5, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return sum != 6;
}
