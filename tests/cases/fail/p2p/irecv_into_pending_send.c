// A receive is posted into the buffer of a pending send.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  double field[20] = {3}, halo[20];
  MPI_Request requests[3];
  MPI_Isend(field, 20, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &requests[0]); //~ CS-BUF-04 operation
  MPI_Irecv(field, 20, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &requests[1]); //~ CS-BUF-04 access
  MPI_Irecv(halo, 20, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);

  MPI_Finalize();
  return 0;
}
