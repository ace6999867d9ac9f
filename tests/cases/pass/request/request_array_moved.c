// Request handles are values: they are sorted, moved by memmove and completed from there.
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int out[3] = {1, 2, 3}, in[3];
  MPI_Request pending[6], moved[6];
  for (int i = 0; i < 3; i++) {
    MPI_Irecv(&in[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, &pending[i]);
  }
  for (int i = 0; i < 3; i++) {
    MPI_Isend(&out[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, &pending[3 + i]);
  }
  for (int i = 0; i < 6; i++) {
    moved[i] = pending[5 - i];
  }
  memset(pending, 0, sizeof(pending));
  MPI_Waitall(3, moved, MPI_STATUSES_IGNORE);
  out[0] = out[1] = out[2] = 0;
  memmove(moved, moved + 3, 3 * sizeof(MPI_Request));
  MPI_Waitall(3, moved, MPI_STATUSES_IGNORE);

  MPI_Finalize();
  return in[0] + in[1] + in[2] == 6 ? 0 : 1;
}
