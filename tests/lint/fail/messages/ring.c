// Each rank sends to the next one before it receives: that needs buffers.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) return MPI_Finalize();
  int to = (rank + 1) % size, from = (rank + size - 1) % size;
  double *out = calloc(1000, sizeof *out), *in = calloc(1000, sizeof *in);
  for (int step = 0; step < 5; step++) {
    MPI_Send(out, 1000, MPI_DOUBLE, to, step, MPI_COMM_WORLD); //~ CS-DLK-03 wait
    MPI_Recv(in, 1000, MPI_DOUBLE, from, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
