// Two ranks receive before they complete their sends.
//# np: 2
//# options: --stuck-after 1 --strict-sends
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int mine = rank, theirs, other = 1 - rank;
  MPI_Request request;
  MPI_Isend(&mine, 1, MPI_INT, other, 0, MPI_COMM_WORLD, &request);
  MPI_Recv(&theirs, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
