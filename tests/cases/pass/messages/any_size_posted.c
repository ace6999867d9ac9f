// Receives from any rank, posted one after the other, whose rooms differ: the large message is only
// sent when the rank has got the small one.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, small = 0, large[8] = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Request requests[2];
    MPI_Irecv(&small, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(large, 8, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Send(&small, 0, MPI_INT, 2, 1, MPI_COMM_WORLD);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  } else {
    if (rank == 2) {
      MPI_Recv(&small, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Send(large, rank == 1 ? 1 : 8, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return small != 0;
}
