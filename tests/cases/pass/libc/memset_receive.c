// memset clears the array before the receive, and the rest of it while that is pending.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  size_t n = 1000 + 0 * argc;
  int *in = malloc(n * sizeof(int)), out[10] = {7};
  memset(in, 0, n * sizeof(int));
  MPI_Request request;
  MPI_Irecv(in + 500, 10, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
  memset(in, 0, 500 * sizeof(int));
  memset(in + 510, 0, (n - 510) * sizeof(int));
  MPI_Send(out, 10, MPI_INT, peer, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int first = in[500];
  free(in);

  MPI_Finalize();
  return first == 7 ? 0 : 1;
}
