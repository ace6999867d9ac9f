// A rank sends to itself while other memory is in use.
//# np: 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  int out[10] = {7}, in[10], other[10] = {0};
  MPI_Request requests[2];
  MPI_Irecv(in, 10, MPI_INT, rank, 0, MPI_COMM_SELF, &requests[0]);
  MPI_Isend(out, 10, MPI_INT, rank, 0, MPI_COMM_SELF, &requests[1]);
  other[0] = out[0];
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

  MPI_Finalize();
  return in[0] == other[0] ? 0 : 1;
}
