// Blocking calls leave nothing pending: their buffers are free on return.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  int a[100] = {0}, b[100];
  a[0] = rank;
  for (int step = 0; step < 5; step++) {
    MPI_Sendrecv(a, 100, MPI_INT, peer, 0, b, 100, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    a[0] = b[0] + 1;
    MPI_Sendrecv_replace(a, 100, MPI_INT, peer, 1, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    a[1] = a[0];
    MPI_Bcast(a, 100, MPI_INT, 0, MPI_COMM_WORLD);
    a[0] = a[1] + rank;
    MPI_Allreduce(MPI_IN_PLACE, a, 100, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }

  MPI_Finalize();
  return a[0] == a[1] + 1 ? 0 : 1;
}
