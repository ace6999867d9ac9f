/* A communicator is duplicated by some ranks of it. Corrected. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  if (rank == 0) MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  MPI_Comm_free(&copy);
  MPI_Finalize();
  return (int)(x - y) & 0;
}
