// A reduction of the program's own that combines what it is given: libraries give it parts of long
// vectors, in the receive buffer or in memory of their own. The buffers have room behind them.
//# np: 4
//# mpi: openmpi
#include <mpi.h>
#include <stdlib.h>

enum { N = 60000 };

static void combine(void *in, void *inout, int *len, MPI_Datatype *type) {
  int *a = in, *b = inout;
  for (int i = 0; i < *len; i++) {
    b[i] += a[i];
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int size, wrong = 0;
  MPI_Op op;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int *mine = calloc(2 * N, sizeof *mine), *all = calloc(2 * N, sizeof *all);
  for (int i = 0; i < N; i++) {
    mine[i] = 1;
  }
  MPI_Op_create(combine, 1, &op);
  MPI_Allreduce(mine, all, N, MPI_INT, op, MPI_COMM_WORLD);
  for (int i = 0; i < N; i++) {
    wrong |= all[i] != size;
  }
  MPI_Op_free(&op);
  free(mine);
  free(all);
  MPI_Finalize();
  return wrong;
}
