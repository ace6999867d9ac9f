// memcpy unpacks a pending receive buffer.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void unpack(double *to, const double *from, size_t n) {
  memcpy(to, from, n * sizeof(*to)); //~ CS-BUF-02 access
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int n = 200 + 0 * argc;
  double *in = calloc(n, sizeof(double)), *field = calloc(n, sizeof(double)), *out = calloc(n, sizeof(double));
  out[n - 1] = 7;
  MPI_Request request;
  MPI_Irecv(in, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation
  MPI_Send(out, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  unpack(field, in, n);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  double last = field[n - 1];
  free(in);
  free(field);
  free(out);

  printf("%s\n", last == 7 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
