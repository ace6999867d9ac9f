// All ranks expect everything from each.
//# np: 3
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double mine = rank;
  static double all[100];
  MPI_Allgather(&mine, 1, MPI_DOUBLE, all, size, MPI_DOUBLE, MPI_COMM_WORLD); //~ CS-COL-04 access //~ CS-COL-04 operation
  MPI_Finalize();
  return 0;
}
