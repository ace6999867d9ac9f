// A blocking reduction may read the buffer of a pending send.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static double local[8], total[8], halo[8];
  MPI_Request requests[2];
  local[7] = 1;
  MPI_Irecv(halo, 8, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(local, 8, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Allreduce(local, total, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

  MPI_Finalize();
  return halo[7] == 1 && total[7] == 2 ? 0 : 1;
}
