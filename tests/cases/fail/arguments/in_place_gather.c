/* A rank that is not the root has nothing in the root's buffer. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, all[2] = {0, 0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  all[rank] = rank + 1;
  MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);  //~ CS-ARG-01 operation ranks=1
  MPI_Finalize();
  return 0;
}
