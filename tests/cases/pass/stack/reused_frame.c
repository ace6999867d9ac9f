// After completion the same stack addresses belong to other functions' locals.
#include <mpi.h>

__attribute__((noinline)) static int exchange(int value, int peer) {
  int out[32], in[32];
  MPI_Request requests[2];
  for (int i = 0; i < 32; i++) {
    out[i] = value;
  }
  MPI_Irecv(in, 32, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, 32, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  return in[31];
}

__attribute__((noinline)) static int scribble(int value) {
  volatile int room[80];
  for (int i = 0; i < 80; i++) {
    room[i] = value;
  }
  return room[40];
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int sum = 0;
  for (int step = 0; step < 5; step++) {
    sum += exchange(step, peer) - scribble(step);
  }

  MPI_Finalize();
  return sum == 0 ? 0 : 1;
}
