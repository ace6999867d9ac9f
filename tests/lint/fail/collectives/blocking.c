/* A blocking barrier on some ranks, a nonblocking one on others: they do not match. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  if (rank == 0) { //~ CS-COL-01 cause
    MPI_Barrier(MPI_COMM_WORLD); //~ CS-COL-01 access
  } else {
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request); //~ CS-COL-01 operation
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return (int)(x - y) & 0;
}
