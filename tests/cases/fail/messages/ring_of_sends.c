//# np: 3
// All send before anybody receives.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int right = (rank + 1) % size, left = (rank + size - 1) % size, sum = 0;
  for (int step = 0; step < 5; step++) {
    int in;
    MPI_Send(&rank, 1, MPI_INT, right, step, MPI_COMM_WORLD); //~ CS-DLK-03 wait
    MPI_Recv(&in, 1, MPI_INT, left, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-DLK-03 operation
    sum += in;
  }
  MPI_Finalize();
  return sum != 5 * left;
}
