// Two ranks start the barriers of two communicators before they wait for any.
//# np: 2
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Request requests[2];
  MPI_Ibarrier(rank == 0 ? MPI_COMM_WORLD : copy, &requests[0]);
  MPI_Ibarrier(rank == 0 ? copy : MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Comm_free(&copy);
  MPI_Finalize();
  return 0;
}
