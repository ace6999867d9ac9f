// A send whose request and buffer are kept in a list until the send completed.
#include <mpi.h>
#include <stdlib.h>

typedef struct {
  MPI_Request request;
  int *buffer;
} pending;

static void finish(pending *p) {
  MPI_Wait(&p->request, MPI_STATUS_IGNORE);
  free(p->buffer);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int in[3][30];
  pending p[3];
  MPI_Request incoming[3];
  for (int i = 0; i < 3; i++)
    MPI_Irecv(in[i], 30, MPI_INT, peer, i, MPI_COMM_WORLD, &incoming[i]);
  for (int i = 0; i < 3; i++) {
    int *out = calloc(30, sizeof(int));
    out[0] = i;
    p[i].buffer = out;
    MPI_Isend(out, 30, MPI_INT, peer, i, MPI_COMM_WORLD, &p[i].request);
  }
  int sum = 0;
  for (int i = 0; i < 3; i++) {
    MPI_Wait(&incoming[i], MPI_STATUS_IGNORE);
    sum += in[i][0];
    finish(&p[i]);
  }

  MPI_Finalize();
  return sum == 3 ? 0 : 1;
}
