/* A rank that is not the root has nothing in the root's buffer. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, all[2] = {0, 0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  all[rank] = rank + 1;
  MPI_Gather(rank == 0 ? MPI_IN_PLACE : &all[rank], 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
