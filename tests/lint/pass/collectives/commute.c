/* Nonblocking collectives of two communicators, in another order on rank 0: each communicator's own
 * order is the same. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm copy;
  MPI_Request requests[4];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  if (rank == 0)
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
  else
    MPI_Ibarrier(copy, &requests[0]);
  if (rank == 0)
    MPI_Ibarrier(copy, &requests[1]);
  else
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]);
  MPI_Ibarrier(rank == 0 ? MPI_COMM_WORLD : copy, &requests[2]);
  MPI_Ibarrier(rank == 0 ? copy : MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  MPI_Comm_free(&copy);
  MPI_Finalize();
}
