/* A grid code packs cells into one buffer while it sends the other. */
//# flags: -O1 -fno-inline
//# hooks: none
//# options: --guards
#include <mpi.h>
#include <stdlib.h>

enum { NX = 200, NVAR = 5, SIZE = NX * NX / 4 * NVAR };

typedef struct {
  double d, momentum[3], energy;
} Gas;

static double *send_buf[2], *recv_buf;
static Gas *grid;

static void pack_ix1(int buffer, int step) {
  double *pSnd = send_buf[buffer];
  for (int k = 0; k < NX * NX / 4; k++) {
    const Gas *cell = &grid[(k + step) % (NX * NX / 4)];
    *(pSnd++) = cell->d;
    *(pSnd++) = cell->momentum[0];
    *(pSnd++) = cell->momentum[1];
    *(pSnd++) = cell->momentum[2];
    *(pSnd++) = cell->energy;
  }
}

static MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

static void bvals_mhd(int peer, int step) {
  int buffer = step % 2;
  MPI_Wait(&requests[buffer], MPI_STATUS_IGNORE);
  pack_ix1(buffer, step);
  MPI_Isend(send_buf[buffer], SIZE, MPI_DOUBLE, peer, step, MPI_COMM_WORLD, &requests[buffer]);
  MPI_Recv(recv_buf, SIZE, MPI_DOUBLE, peer, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  grid = calloc(NX * NX / 4, sizeof *grid);
  for (int i = 0; i < 2; i++) send_buf[i] = malloc(SIZE * sizeof(double));
  recv_buf = malloc(SIZE * sizeof(double));
  for (int step = 0; step < 3; step++) bvals_mhd(1 - rank, step);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 2; i++) free(send_buf[i]);
  free(recv_buf);
  free(grid);
  MPI_Finalize();
}
