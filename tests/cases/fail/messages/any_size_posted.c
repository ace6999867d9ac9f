// Receives from any rank, posted one after the other, whose rooms differ: what comes first goes to
// the first.
//# np: 3
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, small = 0, large[8] = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Request requests[2];
    MPI_Irecv(&small, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &requests[0]); //~ CS-MSG-06 access
    MPI_Irecv(large, 8, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &requests[1]); //~ CS-MSG-06 operation
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else {
    usleep(rank == 2 ? 100000 : 0);
    MPI_Send(large, rank == 1 ? 1 : 8, MPI_INT, 0, 0, MPI_COMM_WORLD); //~ CS-MSG-06 operation
  }
  MPI_Finalize();
  return small != 0;
}
