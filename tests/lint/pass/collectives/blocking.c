/* A blocking barrier on some ranks, a nonblocking one on others: they do not match. Corrected. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  MPI_Request request;
  if (rank == 0) {
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    x = 2;
  } else {
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return (int)(x - y) & 0;
}
