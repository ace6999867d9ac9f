// Two branches do the same.
//# flags: -O2
#include <mpi.h>

static int in[4], out[4] = {7, 7, 7, 7};

int main(int argc, char **argv) {
  int rank, total = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int other = 1 - rank;
  MPI_Request request;
  if (rank == 0) {
    MPI_Irecv(in, 4, MPI_INT, other, 0, MPI_COMM_WORLD, &request);
  } else {
    MPI_Irecv(in, 4, MPI_INT, other, 0, MPI_COMM_WORLD, &request);
  }
  MPI_Send(out, 4, MPI_INT, other, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  total += in[0];
  MPI_Finalize();
  return total > 7;
}
