// A reduction of the program's own that assumes to be given all elements at once, and is given a
// part of them.
//# np: 1
#include <mpi.h>
#include <stdlib.h>

enum { N = 1000 };

static void combine(void *in, void *inout, int *len, MPI_Datatype *type) {
  int *a = in, *b = inout, n = N / 2 + 1;
  for (int i = 0; i < n; i++) {
    b[i] += a[i]; //~ CS-BUF-09 access
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int wrong = 0;
  MPI_Op op;
  int *in = malloc(2 * N * sizeof *in), *inout = malloc(N / 2 * sizeof *inout);
  for (int i = 0; i < N / 2; i++) {
    in[i] = 1;
    inout[i] = 2;
  }
  MPI_Op_create(combine, 1, &op);
  MPI_Reduce_local(in, inout, N / 2, MPI_INT, op); //~ CS-BUF-09 operation
  for (int i = 0; i < N / 2; i++) {
    wrong |= inout[i] != 3;
  }
  MPI_Op_free(&op);
  MPI_Finalize();
  return wrong;
}
