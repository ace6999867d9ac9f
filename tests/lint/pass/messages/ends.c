// A program that ends MPI in a function.
#include <mpi.h>
#include <stdio.h>

static void stop(int really) {
  if (really) MPI_Finalize();
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("first\n");
  stop(argc > 0);
  return 0;
}
