// Buffer and request are fields of a structure; the buffer has another name, too.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct halo {
  double *out;
  MPI_Request request;
};

static void start(struct halo *halo, int peer) {
  MPI_Isend(halo->out, 16, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &halo->request);
}

static void finish(struct halo *halo) { MPI_Wait(&halo->request, MPI_STATUS_IGNORE); }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  double *values = calloc(16, sizeof *values);
  struct halo halo = {.out = values};
  start(&halo, peer);
  finish(&halo);
  values[3] = 1;
  free(values);
  MPI_Finalize();
  return 0;
}
