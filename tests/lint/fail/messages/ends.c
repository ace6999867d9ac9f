// A program that does not end MPI, as the function that would is told not to.
#include <mpi.h>
#include <stdio.h>

static void stop(int really) {
  if (really) MPI_Finalize();
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv); //~ CS-INI-02 operation
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("first\n");
  stop(argc > 1);
  return 0;
}
