/* In place on every rank, where the root alone may be. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, energy[2];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  energy[0] = energy[1] = rank;
  MPI_Reduce(MPI_IN_PLACE, energy, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);  //~ CS-ARG-01 operation
  if (rank == 0) printf("%d\n", energy[0]);
  MPI_Finalize();
  return 0;
}
