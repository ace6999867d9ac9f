// read(2) fills the first half of a buffer, a pending receive the second.
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static char in[64], out[32];
  int ends[2];
  if (pipe(ends) != 0 || write(ends[1], out, 32) != 32) {
    abort();
  }
  out[31] = 'x';
  MPI_Request request;
  MPI_Irecv(in + 32, 32, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &request);
  ssize_t got = read(ends[0], in, 32);
  MPI_Send(out, 32, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  close(ends[0]);
  close(ends[1]);

  MPI_Finalize();
  return got == 32 && in[63] == 'x' ? 0 : 1;
}
