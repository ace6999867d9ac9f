// The wait function of a library completes only the first half of the handles it was given.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int n;
  MPI_Request *requests;
} group;

static group *group_of(const MPI_Request *requests, int n) {
  group *g = malloc(sizeof(*g));
  g->n = n;
  g->requests = malloc(n * sizeof(MPI_Request));
  memcpy(g->requests, requests, n * sizeof(MPI_Request));
  return g;
}

static void group_wait(group *g) {
  MPI_Waitall(g->n / 2, g->requests, MPI_STATUSES_IGNORE);
}

static void group_free(group *g) {
  MPI_Waitall(g->n, g->requests, MPI_STATUSES_IGNORE);
  free(g->requests);
  free(g);
}

static group *post(int *in, int *out, int peer) {
  MPI_Request requests[2];
  MPI_Irecv(in, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]); //~ CS-BUF-01 operation
  return group_of(requests, 2);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int in[4], out[4] = {7};
  for (int step = 0; step < 3; step++) {
    group *g = post(in, out, peer);
    group_wait(g);
    out[0] = in[0] + 1; //~ CS-BUF-01 access
    group_free(g);
  }

  MPI_Finalize();
  return 0;
}
