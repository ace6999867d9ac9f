// Calls that use more than their buffers are, as the numbers come out that functions and ranks
// compute.
#include <mpi.h>
#include <stdlib.h>

enum { N = 12 };
static double row[N];
static int pairs[2 * N];

static int *block(int count) { return malloc(count * sizeof(int)); }

static void shift(int count, int to, int from) {
  double in[N];
  MPI_Sendrecv(row, count, MPI_DOUBLE, to, 0, in, N + 1, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, //~ CS-BUF-07 operation
               MPI_STATUS_IGNORE);
}

static void columns(int rank, int size) {
  MPI_Datatype column;
  MPI_Type_vector(N, 1, 2, MPI_INT, &column);
  MPI_Type_commit(&column);
  if (size > 1 && rank == 0) MPI_Send(pairs + 2, 1, column, 1, 1, MPI_COMM_WORLD); //~ CS-BUF-07 operation
  if (rank == 1) MPI_Recv(pairs, 1, column, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Type_free(&column);
}

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  shift(N, (rank + 1) % size, (rank + size - 1) % size);
  columns(rank, size);
  int *mine = block(3), *all = block(3 * size - 1);
  for (int i = 0; i < 3; i++) mine[i] = rank;
  MPI_Gather(mine, 3, MPI_INT, all, 3, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-BUF-07 operation
  free(mine);
  free(all);
  MPI_Finalize();
  return 0;
}
