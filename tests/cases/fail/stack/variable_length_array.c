// A send of a variable-length array is pending when its function returns through a branch.
#include <mpi.h>
#include <stdio.h>

__attribute__((noinline)) static int post(int n, int peer, MPI_Request *request) {
  int out[n];
  for (int i = 0; i < n; i++) {
    out[i] = i;
  }
  MPI_Isend(out, n, MPI_INT, peer, 0, MPI_COMM_WORLD, request); //~ CS-BUF-06 operation
  if (n > 50) {
    return 1; //~ CS-BUF-06 return func=post
  }
  MPI_Wait(request, MPI_STATUS_IGNORE);
  return 0;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int in[100];
  MPI_Request incoming;
  MPI_Irecv(in, 100, MPI_INT, peer, 0, MPI_COMM_WORLD, &incoming);
  MPI_Request request;
  int early = post(100, peer, &request);
  MPI_Wait(&incoming, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  printf("%s\n", early == 1 && in[99] == 99 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
