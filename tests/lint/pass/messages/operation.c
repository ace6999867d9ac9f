/* Reductions of the program's own: of as many elements as there are, of one element that is the
 * whole array, of one number, and one that uses nothing. */
#include <mpi.h>

enum { N = 6000 };
static int mine[N], all[N];

static void add(const int *from, int *to, int count) {
  for (int i = 0; i < count; i++) to[i] += from[i];
}

static void combine(void *in, void *inout, int *len, MPI_Datatype *type) {
  add(in, inout, *len);
}

static void combine_all(void *in, void *inout, int *len, MPI_Datatype *type) {
  int *a = in, *b = inout;
  for (int i = 0; i < N - 6; i++) b[i] += a[i];
  for (int i = N - 6; i < N; i++) if (a[i] > b[i]) b[i] = a[i];
}

static void larger(void *in, void *inout, int *len, MPI_Datatype *type) {
  int *a = in, *b = inout;
  if (*a > *b) *b = *a;
}

static void any(void *in, void *inout, int *len, MPI_Datatype *type) {}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Op sums, whole_sums, most, one;
  MPI_Datatype whole;
  MPI_Type_contiguous(N, MPI_INT, &whole);
  MPI_Type_commit(&whole);
  MPI_Op_create(combine, 1, &sums);
  MPI_Allreduce(mine, all, N, MPI_INT, sums, MPI_COMM_WORLD);
  MPI_Op_create(combine_all, 1, &whole_sums);
  MPI_Allreduce(mine, all, 1, whole, whole_sums, MPI_COMM_WORLD);
  MPI_Op_create(larger, 1, &most);
  MPI_Reduce(mine, all, 1, MPI_INT, most, 0, MPI_COMM_WORLD);
  MPI_Op_create(any, 1, &one);
  MPI_Allreduce(mine, all, N, MPI_INT, one, MPI_COMM_WORLD);
  MPI_Type_free(&whole);
  MPI_Op_free(&sums);
  MPI_Op_free(&whole_sums);
  MPI_Op_free(&most);
  MPI_Op_free(&one);
  MPI_Finalize();
}
