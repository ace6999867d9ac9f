/* Reductions of the program's own that assume to get all elements at once, or just one. */
#include <mpi.h>

enum { N = 6000 };
static int mine[N], all[N];

static void combine(void *in, void *inout, int *len, MPI_Datatype *type) {
  int *a = in, *b = inout;
  (void)len, (void)type;
  for (int i = 0; i < N - 6; i++) b[i] += a[i];
  for (int i = N - 6; i < N; i++) if (a[i] > b[i]) b[i] = a[i];
}

static void larger(void *in, void *inout, int *len, MPI_Datatype *type) {
  int *a = in, *b = inout;
  if (*a > *b) *b = *a;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Op sums, most;
  MPI_Op_create(combine, 1, &sums);
  MPI_Allreduce(mine, all, N, MPI_INT, sums, MPI_COMM_WORLD); //~ CS-BUF-09 operation
  MPI_Op_create(larger, 1, &most);
  MPI_Reduce(mine, all, 2, MPI_INT, most, 0, MPI_COMM_WORLD); //~ CS-BUF-09 operation
  MPI_Op_free(&sums);
  MPI_Op_free(&most);
  MPI_Finalize();
}
