/* All ranks of a part come to its barrier, the others have a part of their own. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
  if (rank % 2 == 0) MPI_Barrier(part);
  MPI_Comm_free(&part);
  MPI_Finalize();
  return (int)(x - y) & 0;
}
