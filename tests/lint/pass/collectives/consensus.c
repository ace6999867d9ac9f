/* Nonblocking consensus: each rank enters the barrier when it is done with its own. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  int done = 0, entered = 0, flag;
  MPI_Request request, barrier;
  MPI_Issend(&x, 1, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD, &request);
  while (!done) {
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    if (flag) MPI_Recv(&y, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (entered) {
      MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
    } else {
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      if (flag) {
        MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
        entered = 1;
      }
    }
  }
  MPI_Finalize();
  return (int)(x - y) & 0;
}
