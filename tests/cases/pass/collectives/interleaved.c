// Nonblocking collectives of two communicators start in another order on each rank: each
// communicator has an order of its own.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  int sum = rank, value = rank == 0 ? 5 : 0, all = 0;
  MPI_Request requests[2];
  if (rank == 1) {
    MPI_Ibcast(&value, 1, MPI_INT, 0, other, &requests[0]);
    MPI_Iallreduce(&sum, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
  } else {
    MPI_Iallreduce(&sum, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    MPI_Ibcast(&value, 1, MPI_INT, 0, other, &requests[0]);
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  if (value != 5 || all != 3) return 1;

  /* One of them may be blocking, if the other has been started before by everybody. */
  if (rank == 2) {
    MPI_Ibarrier(other, &requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    MPI_Ibarrier(other, &requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Comm_free(&other);
  MPI_Finalize();
  return 0;
}
