/* All ranks see the same command line; one of them prints. */
#include <stdio.h>
#include <stdlib.h>
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  if (argc > 5) {
    if (rank == 0) printf("usage: %s\n", argv[0]);
    MPI_Finalize();
    exit(0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return (int)(x - y) & 0;
}
