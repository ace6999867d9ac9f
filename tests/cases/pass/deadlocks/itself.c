// A rank sends to itself, and waits for that.
//# np: 1
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int value = rank, other;
  MPI_Request request;
  MPI_Irecv(&other, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
  MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
