// The byte just behind the pending send buffer is written, which belongs to nobody.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  enum { N = 1001 };
  char *out = calloc(N + 1, 1), in[N];
  MPI_Request request;
  MPI_Isend(out, N, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &request);
  out[N] = 'x';
  MPI_Recv(in, N, MPI_CHAR, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free(out);

  MPI_Finalize();
  return in[N - 1] == 0 ? 0 : 1;
}
