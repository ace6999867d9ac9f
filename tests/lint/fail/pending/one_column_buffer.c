// Two columns are packed into one buffer, one after the other, while the first is being sent.
// Requests are counted in the structure that holds the buffers.
#include <mpi.h>
#include <stdlib.h>

enum { WEST, EAST };

struct halo {
  MPI_Request request[4];
  int pending;
  double *receive_west, *receive_east, *send_west, *send_east;
};

static void create(struct halo *h, int n) {
  h->receive_west = malloc(n * sizeof(double));
  h->receive_east = malloc(n * sizeof(double));
  h->send_west = malloc(n * sizeof(double));
  h->send_east = h->send_west;
}

static void pack(const double *grid, int n, int column, double *out) {
  for (int j = 1; j <= n; j++) out[j - 1] = grid[j * (n + 2) + column]; //~ CS-BUF-01 access
}

static void receive(struct halo *h, double *to, int n, int from, int tag) {
  MPI_Irecv(to, n, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, &h->request[h->pending++]);
}

static void send(struct halo *h, const double *grid, int n, int column, int to, int tag) {
  double *buffer = tag == WEST ? h->send_west : h->send_east;
  pack(grid, n, column, buffer);
  MPI_Isend(buffer, n, MPI_DOUBLE, to, tag, MPI_COMM_WORLD, &h->request[h->pending++]); //~ CS-BUF-01 operation
}

int main(int argc, char **argv) {
  int rank, size, n = 64;
  struct halo h;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double *grid = calloc((size_t)(n + 2) * (n + 2), sizeof(double));
  create(&h, n);
  int west = (rank + size - 1) % size, east = (rank + 1) % size;
  for (int step = 0; step < 10; step++) {
    h.pending = 0;
    receive(&h, h.receive_west, n, west, EAST);
    receive(&h, h.receive_east, n, east, WEST);
    send(&h, grid, n, 1, west, WEST);
    send(&h, grid, n, n, east, EAST);
    MPI_Waitall(h.pending, h.request, MPI_STATUSES_IGNORE);
  }
  free(h.receive_west);
  free(h.receive_east);
  free(h.send_west);
  free(grid);
  MPI_Finalize();
  return 0;
}
