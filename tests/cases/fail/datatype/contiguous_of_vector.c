// Three times two interleaved blocks: an element of the last block is read.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static short in[40], out[12];
  int seen;
  MPI_Datatype pair, padded, all;
  MPI_Type_vector(2, 2, 5, MPI_SHORT, &pair); /* elements 0 1 5 6, extent 7 */
  MPI_Type_create_resized(pair, 0, 10 * sizeof(short), &padded);
  MPI_Type_contiguous(3, padded, &all);
  MPI_Type_commit(&all);
  MPI_Type_free(&pair);
  MPI_Type_free(&padded);
  out[11] = 7;
  MPI_Request request;
  MPI_Irecv(in, 1, all, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation
  MPI_Send(out, 12, MPI_SHORT, peer, 0, MPI_COMM_WORLD);
  seen = in[26]; //~ CS-BUF-02 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&all);

  printf("%s\n", seen == 13 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
