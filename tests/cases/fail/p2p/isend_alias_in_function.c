// The pending send buffer is written in another function, through an alias of its middle.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct mesh {
  double *cells;
  double *boundary;
};

static void relax(struct mesh *m, int n) {
  double *edge = m->boundary;
  for (int i = 0; i < n; i++) {
    *edge++ = i * 0.5; //~ CS-BUF-01 access
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  struct mesh m;
  double halo[32];
  MPI_Request request;
  m.cells = calloc(256, sizeof(double));
  m.boundary = m.cells + 224;

  MPI_Isend(m.cells + 200, 56, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  relax(&m, 32);
  double received[56];
  MPI_Recv(received, 56, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < 32; i++) {
    halo[i] = received[i + 24];
  }
  free(m.cells);

  printf("%s\n", halo[3] == 0.0 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
