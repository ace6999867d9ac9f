// A ring exchange forgot all completion checks: the ghost cells are read, the boundary is
// updated, and the requests are lost, all while both transfers are pending.
#include <mpi.h>
#include <stdio.h>
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
    f->next[i] = f->now[i] + 0.25 * (f->now[i - 1] - f->now[i]); //~ CS-BUF-02 access
  }
}

static void source(field *f, int step) {
  f->now[LAST] = step; //~ CS-BUF-01 access
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

  MPI_Irecv(&f.now[GHOST], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &receive); //~ CS-BUF-02 operation //~ CS-REQ-01 operation
  MPI_Isend(&f.now[LAST], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &send); //~ CS-BUF-01 operation //~ CS-REQ-01 operation
  diffuse(&f, FIRST, LAST);
  source(&f, 2);
  swap(&f);
  MPI_Barrier(MPI_COMM_WORLD);

  printf("%g\n", f.now[FIRST]);
  MPI_Finalize();
  return 0;
}
