// All ranks expect the same of each, at displacements of their own.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int counts[3] = {2, 2, 2}, displs[3] = {0, 3, 6}, mine[3] = {rank, rank, rank}, all[9] = {0};
  if (rank == 0) displs[1] = 2;
  MPI_Allgatherv(mine, 2, MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD);
  if (all[6] != 2 || all[7] != 2) return 1;
  MPI_Finalize();
  return 0;
}
