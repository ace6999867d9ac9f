// Both ranks call the broadcasts of two communicators in one order.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm row, column;
  MPI_Comm_dup(MPI_COMM_WORLD, &row);
  MPI_Comm_dup(MPI_COMM_WORLD, &column);
  int a = rank == 0, b = rank == 1;
  if (rank == 0) {
    MPI_Bcast(&a, 1, MPI_INT, 0, row);
    MPI_Bcast(&b, 1, MPI_INT, 1, column);
  } else {
    MPI_Bcast(&a, 1, MPI_INT, 0, row);
    MPI_Bcast(&b, 1, MPI_INT, 1, column);
  }
  if (!a || !b) return 1;
  MPI_Comm_free(&row);
  MPI_Comm_free(&column);
  MPI_Finalize();
  return 0;
}
