// read(2) fills a buffer that a pending receive fills too.
#include <mpi.h>
#include <stdio.h>
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
  MPI_Irecv(in + 32, 32, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-03 operation
  ssize_t got = read(ends[0], in + 16, 32); //~ CS-BUF-03 access
  MPI_Send(out, 32, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  close(ends[0]);
  close(ends[1]);

  printf("%s\n", got == 32 && in[63] == 'x' ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
