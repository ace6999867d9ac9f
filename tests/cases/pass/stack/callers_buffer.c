// The functions that post return while the operations are pending: the buffers are their
// caller's, static, or allocated, and outlive them.
#include <mpi.h>
#include <stdlib.h>

__attribute__((noinline)) static void post_callers(int *buffer, int peer, MPI_Request *request) {
  int local = 3;
  buffer[0] = local;
  MPI_Isend(buffer, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, request);
}

__attribute__((noinline)) static int *post_static(int peer, MPI_Request *request) {
  static int buffer[4];
  MPI_Irecv(buffer, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, request);
  return buffer;
}

__attribute__((noinline)) static int *post_allocated(int peer, MPI_Request *request) {
  int *buffer = calloc(4, sizeof(int));
  MPI_Irecv(buffer, 4, MPI_INT, peer, 1, MPI_COMM_WORLD, request);
  return buffer;
}

__attribute__((noinline)) static int deep(int n) {
  volatile int room[100];
  room[n] = n;
  return n == 0 ? room[0] : deep(n - 1) + room[n];
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int mine[4] = {0};
  MPI_Request requests[4];
  int *first = post_static(peer, &requests[0]);
  int *second = post_allocated(peer, &requests[1]);
  post_callers(mine, peer, &requests[2]);
  MPI_Isend(mine, 4, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[3]);
  int sum = deep(10);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  int good = first[0] == 3 && second[0] == 3 && sum == 55;
  free(second);

  MPI_Finalize();
  return good ? 0 : 1;
}
