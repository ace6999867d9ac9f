// What one loop starts, another one uses: the operations of its first iteration have the first
// elements.
#include <mpi.h>
#include <stdio.h>

enum { MOST = 8, WIDTH = 32 };

struct exchange {
  MPI_Request requests[2 * MOST];
  int started, count, neighbours[MOST];
  double out[MOST][WIDTH], in[MOST][WIDTH];
};

static void pack(struct exchange *e) {
  for (int n = 0; n < e->count; n++)
    for (int k = 0; k < WIDTH; k++)
      e->out[n][k] = n * k; //~ CS-BUF-01 access
}

static void start(struct exchange *e) {
  e->started = 0;
  for (int n = 0; n < e->count; n++)
    MPI_Irecv(e->in[n], WIDTH, MPI_DOUBLE, e->neighbours[n], 0, MPI_COMM_WORLD, &e->requests[e->started++]);
  for (int n = 0; n < e->count; n++)
    MPI_Isend(e->out[n], WIDTH, MPI_DOUBLE, e->neighbours[n], 0, MPI_COMM_WORLD, &e->requests[e->started++]); //~ CS-BUF-01 operation
}

static double gather(int rank, int size, double mine) {
  double all[64], sum = 0;
  MPI_Request requests[64];
  for (int from = 0; from < size; from++)
    MPI_Irecv(&all[from], 1, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, &requests[from]); //~ CS-BUF-02 operation
  for (int to = 0; to < size; to++)
    MPI_Send(&mine, 1, MPI_DOUBLE, to, 1, MPI_COMM_WORLD);
  for (int from = 0; from < size; from++)
    sum += all[from]; //~ CS-BUF-02 access
  MPI_Waitall(size, requests, MPI_STATUSES_IGNORE);
  return sum + rank;
}

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  struct exchange e = {.count = 2, .neighbours = {(rank + 1) % size, (rank + size - 1) % size}};
  start(&e);
  pack(&e);
  MPI_Waitall(e.started, e.requests, MPI_STATUSES_IGNORE);
  printf("%g %g\n", e.in[0][0], gather(rank, size, rank));
  MPI_Finalize();
  return 0;
}
