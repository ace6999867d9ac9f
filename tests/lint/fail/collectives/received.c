/* The condition has been received in a message. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  int go = 1;
  if (rank == 0)
    for (int to = 1; to < size; to++) MPI_Send(&go, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
  else
    MPI_Recv(&go, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (go) //~ CS-COL-01 cause possible
    MPI_Barrier(MPI_COMM_WORLD); //~ CS-COL-01 access possible
  MPI_Finalize();
  return (int)(x - y) & 0;
}
