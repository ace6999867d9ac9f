// A helper starts the send of its caller's array; the caller returns too early, not the helper.
#include <mpi.h>
#include <string.h>

__attribute__((noinline)) static void start(const char *text, int peer, MPI_Request *request) {
  MPI_Isend(text, 32, MPI_CHAR, peer, 0, MPI_COMM_WORLD, request); //~ CS-BUF-06 operation
}

__attribute__((noinline)) static void announce(int rank, MPI_Request *request) {
  char text[32];
  memset(text, 'a' + rank, sizeof(text));
  start(text, 1 - rank, request);
} //~ CS-BUF-06 return func=announce

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static char in[32];
  MPI_Request incoming;
  MPI_Irecv(in, 32, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &incoming);
  MPI_Request request;
  announce(rank, &request);
  MPI_Wait(&incoming, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Finalize();
  return 0;
}
