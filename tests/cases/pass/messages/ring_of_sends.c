//# np: 3
// The even ranks send first, the odd ones receive first; of an odd ring two neighbours send.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int right = (rank + 1) % size, left = (rank + size - 1) % size, sum = 0;
  for (int step = 0; step < 5; step++) {
    int in;
    if (rank % 2 == 0) {
      MPI_Send(&rank, 1, MPI_INT, right, step, MPI_COMM_WORLD);
      MPI_Recv(&in, 1, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Probe(left, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Recv(&in, 1, MPI_INT, left, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Ssend(&rank, 1, MPI_INT, right, step, MPI_COMM_WORLD);
    }
    sum += in;
  }
  MPI_Finalize();
  return sum != 5 * left;
}
