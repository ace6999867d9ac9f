// An exception leaves the function whose local array is being sent.
#include <mpi.h>
#include <stdexcept>
#include <stdio.h>

__attribute__((noinline)) static void check(int value) {
  if (value > 0) {
    throw std::runtime_error("out of range");
  }
}

__attribute__((noinline)) static void post(int peer, MPI_Request *request) { //~ CS-BUF-06 return func=post
  int out[16] = {7};
  MPI_Isend(out, 16, MPI_INT, peer, 0, MPI_COMM_WORLD, request); //~ CS-BUF-06 operation
  check(out[0]);
  MPI_Wait(request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int in[16];
  MPI_Request incoming;
  MPI_Irecv(in, 16, MPI_INT, peer, 0, MPI_COMM_WORLD, &incoming);
  int caught = 0;
  MPI_Request request;
  try {
    post(peer, &request);
  } catch (const std::runtime_error &) {
    caught = 1;
  }
  MPI_Wait(&incoming, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  printf("%s\n", caught && in[0] == 7 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
