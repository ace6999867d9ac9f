/* The condition has been scattered. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  int all[64] = {0}, mine;
  MPI_Scatter(all, 1, MPI_INT, &mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (mine) //~ CS-COL-01 cause possible
    MPI_Barrier(MPI_COMM_WORLD); //~ CS-COL-01 access possible
  MPI_Finalize();
  return (int)(x - y) & 0;
}
