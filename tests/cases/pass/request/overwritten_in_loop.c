// One request for each send of a loop.
#include <mpi.h>

enum { STEPS = 3 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int out[STEPS], in[STEPS];
  for (int i = 0; i < STEPS; i++) {
    out[i] = i + 1;
  }
  MPI_Request requests[STEPS];
  for (int i = 0; i < STEPS; i++) {
    MPI_Issend(&out[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[i]);
  }
  for (int i = 0; i < STEPS; i++) {
    MPI_Recv(&in[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Waitall(STEPS, requests, MPI_STATUSES_IGNORE);

  MPI_Finalize();
  return in[0] + in[1] + in[2] == 6 ? 0 : 1;
}
