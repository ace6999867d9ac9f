// Reading the buffer of a pending send is allowed since MPI 2.2, in code and in libc.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  char out[64] = "hello", in[64], copy[64];
  MPI_Request request;
  MPI_Isend(out, 64, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &request);
  int letter = out[1];
  memcpy(copy, out, sizeof(copy));
  printf("%s %c\n", out, letter);
  MPI_Recv(in, 64, MPI_CHAR, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return strcmp(in, copy) == 0 && letter == 'e' ? 0 : 1;
}
