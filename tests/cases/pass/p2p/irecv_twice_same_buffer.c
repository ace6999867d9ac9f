// Two receives are pending for the two halves of one array.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int out[16] = {7}, in[16];
  MPI_Request requests[2];
  MPI_Irecv(in, 8, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in + 8, 8, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Send(out, 8, MPI_INT, peer, 0, MPI_COMM_WORLD);
  MPI_Send(out, 8, MPI_INT, peer, 1, MPI_COMM_WORLD);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

  MPI_Finalize();
  return in[0] == 7 && in[8] == 7 ? 0 : 1;
}
