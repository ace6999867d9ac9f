// With MPI_IN_PLACE each process' own block belongs to the pending allgather too.
#include <mpi.h>

enum { N = 6 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int blocks[2 * N];
  MPI_Request request;
  MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks, N, MPI_INT, MPI_COMM_WORLD, &request); //~ CS-BUF-03 operation
  for (int i = 0; i < N; i++) {
    blocks[rank * N + i] = rank + 1; //~ CS-BUF-03 access
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
