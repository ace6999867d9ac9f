// Memory of MPI_Alloc_mem is freed after completion.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static double in[16];
  double *out;
  MPI_Alloc_mem(16 * sizeof(double), MPI_INFO_NULL, &out);
  out[15] = 7;
  MPI_Request request;
  MPI_Isend(out, 16, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &request);
  MPI_Recv(in, 16, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Free_mem(out);

  MPI_Finalize();
  return in[15] == 7 ? 0 : 1;
}
