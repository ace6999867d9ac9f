/* One buffer for what a call sends and for what it receives. */
#include <mpi.h>

static double field[64], other[64];

static void pass_on(double *values, int count, int from, int to) {
  MPI_Sendrecv(values + 8, count, MPI_DOUBLE, to, 0, values, count, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  int rank, size;
  double sums[4] = {1};
  MPI_Datatype first, last;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allgather(field, 1, MPI_DOUBLE, other, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  pass_on(other, argc, (rank + size - 1) % size, (rank + 1) % size);
  MPI_Type_create_subarray(1, (int[]){64}, (int[]){8}, (int[]){0}, MPI_ORDER_C, MPI_DOUBLE, &first);
  MPI_Type_create_subarray(1, (int[]){64}, (int[]){8}, (int[]){56}, MPI_ORDER_C, MPI_DOUBLE, &last);
  MPI_Type_commit(&first);
  MPI_Type_commit(&last);
  MPI_Sendrecv(field, 1, first, (rank + 1) % size, 0, field, 1, last, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Type_free(&first);
  MPI_Type_free(&last);
  MPI_Finalize();
  return 0;
}
