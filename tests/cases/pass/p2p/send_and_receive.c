// A ring exchange with its completion checks, overlapping the update of the inner cells.
#include <mpi.h>
#include <stdlib.h>

enum { CELLS = 66, FIRST = 1, LAST = 64, GHOST = 0 };

typedef struct {
  double *now, *next;
} field;

static void swap(field *f) {
  double *t = f->now;
  f->now = f->next;
  f->next = t;
}

static void diffuse(field *f, int from, int to) {
  for (int i = from; i <= to; i++) {
    f->next[i] = f->now[i] + 0.25 * (f->now[i - 1] - f->now[i]);
  }
}

static void source(field *f, int step) {
  f->now[LAST] = step;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int right = (rank + 1) % size, left = (rank + size - 1) % size;

  field f = {calloc(CELLS, sizeof(double)), calloc(CELLS, sizeof(double))};
  MPI_Request receive, send;
  f.now[LAST] = 1;

  MPI_Irecv(&f.now[GHOST], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &receive);
  MPI_Isend(&f.now[LAST], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &send);
  diffuse(&f, FIRST + 1, LAST);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  diffuse(&f, FIRST, FIRST);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  source(&f, 2);
  double ghost = f.now[GHOST];
  swap(&f);
  MPI_Barrier(MPI_COMM_WORLD);

  int good = ghost == 1 && f.now[FIRST] == 0.25 && f.next[LAST] == 2;
  free(f.now);
  free(f.next);
  MPI_Finalize();
  return good ? 0 : 1;
}
