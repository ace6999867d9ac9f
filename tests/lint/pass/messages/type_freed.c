// A datatype is freed while operations use it, and the buffer is written after them.
#include <mpi.h>
#include <stdlib.h>

enum { N = 100 };

int main(int argc, char **argv) {
  int rank;
  MPI_Request requests[2];
  MPI_Datatype block;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *out = calloc(2 * N, sizeof *out), *in = out + N;
  MPI_Type_contiguous(N, MPI_DOUBLE, &block);
  MPI_Type_commit(&block);
  MPI_Isend(out, 1, block, rank, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in, 1, block, rank, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Type_free(&block);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  in[5] = 1;
  free(out);
  MPI_Finalize();
  return 0;
}
