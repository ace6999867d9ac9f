// A reduction of the program's own takes its time, while all ranks are in MPI.
//# np: 2
//# options: --stuck-after 1
#include <mpi.h>

static void add_slowly(void *in, void *inout, int *count, MPI_Datatype *type) {
  (void)type;
  double begin = MPI_Wtime();
  while (MPI_Wtime() - begin < 3) {
  }
  for (int i = 0; i < *count; i++) {
    ((int *)inout)[i] += ((int *)in)[i];
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int value = rank + 1, sum = 0;
  MPI_Op op;
  MPI_Op_create(add_slowly, 1, &op);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
  MPI_Op_free(&op);
  MPI_Finalize();
  if (sum != 3) {
    return 1;
  }
  return 0;
}
