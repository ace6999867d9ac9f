// Two receives are pending for overlapping parts of one array.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int out[16] = {7}, in[16];
  MPI_Request requests[2];
  MPI_Irecv(in, 8, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]); //~ CS-BUF-04 operation
  MPI_Irecv(in + 7, 8, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[1]); //~ CS-BUF-04 access
  MPI_Send(out, 8, MPI_INT, peer, 0, MPI_COMM_WORLD);
  MPI_Send(out, 8, MPI_INT, peer, 1, MPI_COMM_WORLD);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

  MPI_Finalize();
  return 0;
}
