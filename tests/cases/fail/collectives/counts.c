// One rank expects more of the last than the others do.
//# np: 3
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int counts[3] = {2, 2, 2}, displs[3] = {0, 3, 6}, mine[3] = {rank, rank, rank}, all[9] = {0};
  if (rank == 0) counts[2] = 3;
  MPI_Allgatherv(mine, 2, MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD); //~ CS-COL-04 access //~ CS-COL-04 operation
  MPI_Finalize();
  return 0;
}
