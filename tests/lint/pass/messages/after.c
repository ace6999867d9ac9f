// No call after the end of MPI.
#include <mpi.h>
#include <stdio.h>

static int rank_of(MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank = rank_of(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) printf("done\n");
  return 0;
}
