/* What a rank contributes lies within what all ranks receive. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double all[12] = {0}, *mine = all + 6 * rank, other[6];
  for (int i = 0; i < 6; i++) mine[i] = other[i] = rank + 1;
  MPI_Allgather(other, 6, MPI_DOUBLE, all, 6, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Finalize();
  return all[0] + other[0] < 0;
}
