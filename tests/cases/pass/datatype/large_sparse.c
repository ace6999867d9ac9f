// A type with 20000 small segments over a large array: all elements between them are written.
#include <mpi.h>
#include <stdlib.h>

enum { SEGMENTS = 20000, STRIDE = 12 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int *out = calloc(SEGMENTS * STRIDE, sizeof(int)), *in = calloc(2 * SEGMENTS, sizeof(int));
  MPI_Datatype sparse;
  MPI_Type_vector(SEGMENTS, 2, STRIDE, MPI_INT, &sparse);
  MPI_Type_commit(&sparse);
  MPI_Request requests[2];
  MPI_Irecv(in, 2 * SEGMENTS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, 1, sparse, peer, 0, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0; i < SEGMENTS * STRIDE; i++) {
    if (i % STRIDE >= 2) {
      out[i] = 1;
    }
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Type_free(&sparse);
  int last = in[2 * SEGMENTS - 1] + in[2 * 12345];
  free(out);
  free(in);

  MPI_Finalize();
  return last == 0 ? 0 : 1;
}
