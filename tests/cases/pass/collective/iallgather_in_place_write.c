// Each process fills its own block before the in-place allgather.
#include <mpi.h>

enum { N = 6 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int blocks[2 * N];
  MPI_Request request;
  for (int i = 0; i < N; i++) {
    blocks[rank * N + i] = rank + 1;
  }
  MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks, N, MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return blocks[0] == 1 && blocks[2 * N - 1] == 2 ? 0 : 1;
}
