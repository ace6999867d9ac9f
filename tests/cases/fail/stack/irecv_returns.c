// The function returns while a message may still arrive in its local array.
#include <mpi.h>
#include <stdio.h>

enum { N = 1 << 16 };

/* The receive uses the far end of a large frame, so that even the late message is harmless. */
__attribute__((noinline)) static double first_of(int peer, MPI_Request *request) {
  double room[N];
  room[N - 1] = peer;
  MPI_Irecv(room, 4, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, request); //~ CS-BUF-06 operation
  return room[N - 1];
} //~ CS-BUF-06 return func=first_of

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static double out[4] = {7};
  MPI_Request request, send;
  MPI_Isend(out, 4, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &send);
  double first = first_of(peer, &request);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  printf("%s\n", first == 7 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
