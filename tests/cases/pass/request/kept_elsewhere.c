// Requests of small sends, which share a handle, are copied before their variable is used again.
//# np: 2
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int out[9], in[9];
  MPI_Request one, last, kept[8];
  for (int i = 0; i < 8; i++) {
    MPI_Isend(&out[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &one);
    kept[i] = one;
  }
  MPI_Isend(&out[8], 1, MPI_INT, 1 - rank, 8, MPI_COMM_WORLD, &last);
  for (int i = 0; i < 9; i++) MPI_Recv(&in[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&last, MPI_STATUS_IGNORE);
  out[8] = 1;
  MPI_Wait(&kept[3], MPI_STATUS_IGNORE);
  out[3] = 1;
  kept[3] = MPI_REQUEST_NULL;
  MPI_Waitall(8, kept, MPI_STATUSES_IGNORE);
  out[0] = 1;
  MPI_Finalize();
  return in[8];
}
