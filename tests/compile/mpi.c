/* Links against either MPI and runs as a single process. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int rank, value = 3, got = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Sendrecv(&value, 1, MPI_INT, rank, 0, &got, 1, MPI_INT, rank, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  printf("rank %d got %d\n", rank, got);
  MPI_Finalize();
  return 0;
}
