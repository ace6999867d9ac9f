// A stencil code sends both faces of its block each step. The right face is packed into the
// same buffer, by the shared packing routine, while the left one is still being sent.
//# np: 3
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { NX = 12, NY = 8, VARS = 3, FACE = NY * VARS, LEFT = 0, RIGHT = 1 };

typedef struct {
  double density, momentum, energy;
} cell;

typedef struct {
  cell *cells;
  int left, right;
} block;

static double *send_buffer[2];
static double *recv_buffer[2];

static cell *at(const block *b, int i, int j) {
  return &b->cells[j * (NX + 2) + i];
}

static void pack_face(const block *b, int column, double *buffer) {
  double *next = buffer;
  for (int j = 0; j < NY; j++) {
    const cell *c = at(b, column, j);
    *(next++) = c->density;  //~ CS-BUF-01 access
    *(next++) = c->momentum; //~ CS-BUF-01 access
    *(next++) = c->energy;   //~ CS-BUF-01 access
  }
}

static void unpack_face(const block *b, int column, const double *buffer) {
  for (int j = 0; j < NY; j++) {
    cell *c = at(b, column, j);
    c->density = *(buffer++);
    c->momentum = *(buffer++);
    c->energy = *(buffer++);
  }
}

static void exchange(block *b) {
  MPI_Request sends[2], receives[2];
  MPI_Irecv(recv_buffer[LEFT], FACE, MPI_DOUBLE, b->left, RIGHT, MPI_COMM_WORLD, &receives[0]);
  MPI_Irecv(recv_buffer[RIGHT], FACE, MPI_DOUBLE, b->right, LEFT, MPI_COMM_WORLD, &receives[1]);

  pack_face(b, 1, send_buffer[LEFT]);
  MPI_Isend(send_buffer[LEFT], FACE, MPI_DOUBLE, b->left, LEFT, MPI_COMM_WORLD, &sends[0]); //~ CS-BUF-01 operation
  pack_face(b, NX, send_buffer[RIGHT]);
  MPI_Isend(send_buffer[RIGHT], FACE, MPI_DOUBLE, b->right, RIGHT, MPI_COMM_WORLD, &sends[1]);

  MPI_Waitall(2, receives, MPI_STATUSES_IGNORE);
  unpack_face(b, 0, recv_buffer[LEFT]);
  unpack_face(b, NX + 1, recv_buffer[RIGHT]);
  MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  block b = {calloc((NX + 2) * NY, sizeof(cell)), (rank + size - 1) % size, (rank + 1) % size};
  double *area = malloc(4 * FACE * sizeof(double));
  send_buffer[LEFT] = area;
  send_buffer[RIGHT] = area; /* one buffer was thought to be enough */
  recv_buffer[LEFT] = area + 2 * FACE;
  recv_buffer[RIGHT] = area + 3 * FACE;
  for (int j = 0; j < NY; j++) {
    for (int i = 1; i <= NX; i++) {
      at(&b, i, j)->density = rank * 100 + i;
    }
  }
  for (int step = 0; step < 3; step++) {
    exchange(&b);
  }
  int good = at(&b, 0, NY - 1)->density == b.left * 100 + NX && at(&b, NX + 1, 0)->density == b.right * 100 + 1;
  free(area);
  free(b.cells);

  printf("%s\n", good ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
