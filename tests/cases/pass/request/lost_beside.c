// Both sends in a loop are completed.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int above = (rank + 1) % size, below = (rank + size - 1) % size;
  static double edge[2], halo[2];
  MPI_Request up, down;
  for (int step = 0; step < 4; step++) {
    MPI_Isend(&edge[0], 1, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &up);
    MPI_Isend(&edge[1], 1, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &down);
    MPI_Recv(&halo[0], 1, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&halo[1], 1, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&down, MPI_STATUS_IGNORE);
    MPI_Wait(&up, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
