// A buffered send may still be copying until it completes; the buffer is written before.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int out[32] = {7}, in[32];
  int room = 4096 + MPI_BSEND_OVERHEAD;
  void *attached = malloc(room);
  MPI_Buffer_attach(attached, room);

  MPI_Request request;
  MPI_Ibsend(out, 32, MPI_INT, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  out[5] = 1; //~ CS-BUF-01 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Recv(in, 32, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

  MPI_Buffer_detach(&attached, &room);
  free(attached);
  MPI_Finalize();
  return 0;
}
