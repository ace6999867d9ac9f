/* Nonblocking collectives of two communicators need no common order. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  MPI_Comm other;
  MPI_Request requests[2];
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  if (rank == 0) {
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    MPI_Ibarrier(other, &requests[1]);
  } else {
    MPI_Ibarrier(other, &requests[1]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Comm_free(&other);
  MPI_Finalize();
  return (int)(x - y) & 0;
}
