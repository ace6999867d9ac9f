// Messages of two kinds from whoever comes first, told apart by the tag in the status; those that
// have not come when all of the first kind are there are received by their sender's name. Then a
// length for each sender, known before.
//# np: 3
#include <mpi.h>

enum { SIZE = 1, DATA = 2, KNOWN = 3 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, wrong = 0, values[3][4] = {{0}}, sizes = 0, has[3] = {0};
  MPI_Status status;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank > 0) {
    int mine[4] = {rank, rank, rank, rank};
    MPI_Send(mine, 1, MPI_INT, 0, SIZE, MPI_COMM_WORLD);
    MPI_Send(mine, 4, MPI_INT, 0, DATA, MPI_COMM_WORLD);
  }
  while (rank == 0 && sizes < size - 1) {
    int n;
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == SIZE) {
      MPI_Recv(&n, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      sizes++;
    } else {
      has[status.MPI_SOURCE] = 1;
      MPI_Recv(values[status.MPI_SOURCE], 4, MPI_INT, status.MPI_SOURCE, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  for (int p = 1; rank == 0 && p < size; p++) {
    if (!has[p]) {
      MPI_Recv(values[p], 4, MPI_INT, p, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    wrong |= values[p][3] != p;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank > 0) {
    int mine[4] = {rank, rank, rank, rank};
    MPI_Send(mine, rank, MPI_INT, 0, KNOWN, MPI_COMM_WORLD);
  }
  for (int i = 1; rank == 0 && i < size; i++) {
    MPI_Probe(MPI_ANY_SOURCE, KNOWN, MPI_COMM_WORLD, &status);
    MPI_Recv(values[0], status.MPI_SOURCE, MPI_INT, status.MPI_SOURCE, KNOWN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong |= values[0][0] != status.MPI_SOURCE;
  }
  MPI_Finalize();
  return wrong;
}
