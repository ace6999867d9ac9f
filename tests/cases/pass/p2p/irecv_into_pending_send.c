// Two sends may share a buffer; the receive has its own.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  double field[20] = {3}, halo[20];
  MPI_Request requests[3];
  MPI_Isend(field, 20, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(field, 20, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(halo, 20, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Recv(halo, 0, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  double second[20];
  MPI_Recv(second, 20, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);

  MPI_Finalize();
  return halo[0] == 3 && second[0] == 3 ? 0 : 1;
}
