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
      e->out[n][k] = n * k;
}

static void start(struct exchange *e) {
  e->started = 0;
  for (int n = 0; n < e->count; n++)
    MPI_Irecv(e->in[n], WIDTH, MPI_DOUBLE, e->neighbours[n], 0, MPI_COMM_WORLD, &e->requests[e->started++]);
  for (int n = 0; n < e->count; n++)
    MPI_Isend(e->out[n], WIDTH, MPI_DOUBLE, e->neighbours[n], 0, MPI_COMM_WORLD, &e->requests[e->started++]);
}

static double gather(int rank, int size, double mine) {
  double all[64], sum = 0;
  MPI_Request requests[64];
  for (int from = 0; from < size; from++)
    MPI_Irecv(&all[from], 1, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, &requests[from]);
  for (int to = 0; to < size; to++)
    MPI_Send(&mine, 1, MPI_DOUBLE, to, 1, MPI_COMM_WORLD);
  MPI_Waitall(size, requests, MPI_STATUSES_IGNORE);
  for (int from = 0; from < size; from++)
    sum += all[from];
  return sum + rank;
}

static double in[64], own = 1;
static MPI_Request requests[64];

static double others(int rank, int size) {
  int count = 0;
  for (int from = 0; from < size; from++)
    if (from != rank)
      MPI_Irecv(&in[from], 1, MPI_DOUBLE, from, 2, MPI_COMM_WORLD, &requests[count++]);
  for (int to = 0; to < size; to++)
    if (to == rank)
      in[to] = own;
    else
      MPI_Send(&own, 1, MPI_DOUBLE, to, 2, MPI_COMM_WORLD);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  return in[0];
}

static double one_by_one(int size) {
  double sum = 0;
  for (int from = 1; from < size; from++)
    MPI_Irecv(&in[from], 1, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, &requests[from]);
  in[0] = own;
  for (int from = 1; from < size; from++) {
    MPI_Wait(&requests[from], MPI_STATUS_IGNORE);
    sum += in[from];
  }
  return sum;
}

static double as_they_come(int size) {
  double sum = 0;
  for (int from = 0; from < size; from++)
    MPI_Irecv(&in[from], 1, MPI_DOUBLE, from, 4, MPI_COMM_WORLD, &requests[from]);
  for (int n = 0; n < size; n++) {
    int which;
    MPI_Waitany(size, requests, &which, MPI_STATUS_IGNORE);
    sum += in[which];
  }
  return sum;
}

static double behind(int size) {
  double sum = 0;
  for (int from = 0; from < size; from++) {
    MPI_Irecv(&in[from], 1, MPI_DOUBLE, from, 5, MPI_COMM_WORLD, &requests[from]);
    if (from > 0) {
      MPI_Wait(&requests[from - 1], MPI_STATUS_IGNORE);
      sum += in[from - 1];
    }
  }
  MPI_Wait(&requests[size - 1], MPI_STATUS_IGNORE);
  return sum + in[size - 1];
}

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  struct exchange e = {.count = 2, .neighbours = {(rank + 1) % size, (rank + size - 1) % size}};
  pack(&e);
  start(&e);
  MPI_Waitall(e.started, e.requests, MPI_STATUSES_IGNORE);
  printf("%g %g\n", e.in[0][0], gather(rank, size, rank));
  printf("%g\n", others(rank, size) + one_by_one(size) + as_they_come(size) + behind(size));
  MPI_Finalize();
  return 0;
}
