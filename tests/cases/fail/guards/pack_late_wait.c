/* A grid code packs the cells of the next step into a buffer before it waits for the send of the
 * last. */
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
    *(pSnd++) = cell->d; //~ CS-BUF-01 access
    *(pSnd++) = cell->momentum[0]; //~ CS-BUF-01 access
    *(pSnd++) = cell->momentum[1]; //~ CS-BUF-01 access
    *(pSnd++) = cell->momentum[2]; //~ CS-BUF-01 access
    *(pSnd++) = cell->energy; //~ CS-BUF-01 access
  }
}

static void bvals_mhd(int peer, int step) {
  MPI_Request request;
  MPI_Isend(send_buf[0], SIZE, MPI_DOUBLE, peer, step, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  MPI_Recv(recv_buf, SIZE, MPI_DOUBLE, peer, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  pack_ix1(0, step);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  grid = calloc(NX * NX / 4, sizeof *grid);
  for (int i = 0; i < 2; i++) send_buf[i] = malloc(SIZE * sizeof(double));
  recv_buf = malloc(SIZE * sizeof(double));
  for (int step = 0; step < 3; step++) bvals_mhd(1 - rank, step);
  for (int i = 0; i < 2; i++) free(send_buf[i]);
  free(recv_buf);
  free(grid);
  MPI_Finalize();
}
