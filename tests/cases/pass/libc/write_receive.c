// write(2) stores a checkpoint that was received.
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static double in[32], out[32];
  int ends[2];
  if (pipe(ends) != 0) {
    abort();
  }
  out[31] = 7;
  MPI_Request request;
  MPI_Irecv(in, 32, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &request);
  MPI_Send(out, 32, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  ssize_t written = write(ends[1], in, sizeof(in));
  close(ends[0]);
  close(ends[1]);

  MPI_Finalize();
  return written == sizeof(in) && in[31] == 7 ? 0 : 1;
}
