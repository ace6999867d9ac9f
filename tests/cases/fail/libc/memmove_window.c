// memmove shifts a time window whose newest value is being sent.
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static float window[128], newest;
  size_t n = 127 + 0 * argc;
  window[127] = 3;
  MPI_Request request;
  MPI_Isend(&window[n], 1, MPI_FLOAT, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  memmove(window + 1, window, n * sizeof(float)); //~ CS-BUF-01 access
  MPI_Recv(&newest, 1, MPI_FLOAT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
