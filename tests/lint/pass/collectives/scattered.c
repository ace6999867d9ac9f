/* The condition has been scattered. Corrected. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  int all[64] = {0}, mine = rank;
  MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  if (all[3]) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return (int)(x - y) & 0;
}
