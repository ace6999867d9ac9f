// Two ranks have begun to receive from each other before they send.
#include <mpi.h>

static void exchange(const int *out, int *in, int with) {
  MPI_Request request;
  MPI_Irecv(in, 4, MPI_INT, with, 0, MPI_COMM_WORLD, &request);
  MPI_Send(out, 4, MPI_INT, with, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  int rank, out[4] = {0}, in[4];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank < 2) exchange(out, in, 1 - rank);
  MPI_Finalize();
  return 0;
}
