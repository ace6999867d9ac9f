/* Each partition is marked as ready once. */
//# mpi: mpich
#include <mpi.h>

int main(int argc, char **argv) {
  static double out[20], in[20];
  MPI_Request requests[2];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Psend_init(out, 2, 10, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Precv_init(in, 2, 10, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  MPI_Startall(2, requests);
  MPI_Pready(0, requests[0]);
  MPI_Pready(1, requests[0]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  MPI_Finalize();
  return 0;
}
