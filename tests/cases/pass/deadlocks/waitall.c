// Both messages come that a rank waits for.
//# np: 2
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int in[2], out = rank;
  MPI_Request requests[2];
  if (rank == 0) {
    MPI_Irecv(&in[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Send(&out, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
  } else {
    MPI_Isend(&out, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(&out, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Recv(&in[0], 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
