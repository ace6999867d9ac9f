// Operations of the program's own have handles that differ from rank to rank.
//# np: 3
#include <mpi.h>

static void add(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *length; i++) ((int *)inout)[i] += ((int *)in)[i];
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, value;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Op spare[3], sum;
  for (int i = 0; i < rank; i++) MPI_Op_create(add, 1, &spare[i]);
  MPI_Op_create(add, 1, &sum);
  value = rank + 1;
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, sum, MPI_COMM_WORLD);
  if (value != 6) return 1;
  MPI_Op_free(&sum);
  for (int i = 0; i < rank; i++) MPI_Op_free(&spare[i]);
  MPI_Finalize();
  return 0;
}
